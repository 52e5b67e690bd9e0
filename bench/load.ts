/** Load by autocannon: requests per second, failures, and the CPU that the proxy under load used for each. */
import autocannon from 'autocannon';
import { cpuMicroseconds, type Measured } from './processes.ts';

export interface Load {
  readonly path: string;
  readonly body: string;
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly cpuPerRequest: number;
  /** Share of the proxy's core that was busy; far below 1 the load, not the proxy, was the limit. */
  readonly busy: number;
  readonly requests: number;
  readonly failures: number;
  readonly firstFailure: string;
}

export async function runLoad(target: Measured, load: Load): Promise<LoadResult> {
  const before = cpuMicroseconds([target.pid]);
  const started = performance.now();
  let firstFailure = '';
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(
      {
        url: `${target.url}${load.path}`,
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${target.key}` },
        body: load.body,
        connections: load.connections,
        duration: load.seconds,
        timeout: 60,
      },
      (error, done) => (error ? reject(error) : resolve(done)),
    );
    instance.on('response', (_client, status) => {
      if (status !== 200 && firstFailure === '') firstFailure = `status ${status}`;
    });
    instance.on('reqError', (error) => {
      if (firstFailure === '') firstFailure = error.message;
    });
  });
  const elapsed = performance.now() - started;
  const cpu = cpuMicroseconds([target.pid]) - before;
  const requests = result['2xx'];
  return {
    requestsPerSecond: (requests / elapsed) * 1000,
    cpuPerRequest: cpu / Math.max(1, requests),
    busy: cpu / (elapsed * 1000),
    requests,
    failures: result.non2xx + result.errors + result.timeouts,
    firstFailure,
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
