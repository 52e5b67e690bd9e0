/** Counters of the process in Prometheus' text form. Plain numbers, added up when a request ends. */
import { performance } from 'node:perf_hooks';
import type { LiveExchange } from '../chain/exchange.ts';
import type { Outcome, Usage } from '../contract/usage.ts';

/** Upper bounds in seconds. */
const buckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 30, 120, 600];

/** What is counted for one route. */
class RouteMetrics {
  readonly outcomes = { ok: 0, error: 0, aborted: 0, accepted: 0 };
  readonly durations: number[] = new Array<number>(buckets.length + 1).fill(0);
  seconds = 0;
  attempts = 0;
  inputTokens = 0;
  outputTokens = 0;
  images = 0;

  use(usage: Usage): void {
    this.inputTokens += usage.input;
    this.outputTokens += usage.output;
    this.images += usage.images;
  }
}

export class Metrics {
  private readonly routes = new Map<string, RouteMetrics>();

  record(exchange: LiveExchange, outcome: Outcome): void {
    const metrics = this.of(exchange);
    const seconds = (performance.now() - exchange.startedMono) / 1000;
    metrics.outcomes[outcome.kind]++;
    metrics.seconds += seconds;
    metrics.durations[bucketOf(seconds)]!++;
    metrics.attempts += exchange.attempts.length;
    metrics.use(outcome.usage);
  }

  /** What was used within a session that goes on. */
  recordUsage(exchange: LiveExchange, usage: Usage): void {
    this.of(exchange).use(usage);
  }

  private of(exchange: LiveExchange): RouteMetrics {
    let metrics = this.routes.get(exchange.route.path);
    if (metrics === undefined) {
      metrics = new RouteMetrics();
      this.routes.set(exchange.route.path, metrics);
    }
    return metrics;
  }

  /** Prometheus text format 0.0.4. */
  render(gauges: Readonly<Record<string, number>>): string {
    const lines: string[] = [];
    const family = (name: string, type: string, help: string) =>
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    const each = (name: string, value: (one: RouteMetrics) => number) => {
      for (const [route, one] of this.routes) lines.push(`${name}{route="${route}"} ${value(one)}`);
    };
    family('gateway_requests_total', 'counter', 'Requests that ended, by route and outcome.');
    for (const [route, one] of this.routes) {
      for (const [outcome, count] of Object.entries(one.outcomes))
        lines.push(`gateway_requests_total{route="${route}",outcome="${outcome}"} ${count}`);
    }
    family('gateway_request_duration_seconds', 'histogram', 'From the head of the request to its settlement.');
    for (const [route, one] of this.routes) lines.push(...histogram(route, one));
    family('gateway_attempts_total', 'counter', 'Tries at vendors.');
    each('gateway_attempts_total', (one) => one.attempts);
    family('gateway_input_tokens_total', 'counter', 'Input tokens settled.');
    each('gateway_input_tokens_total', (one) => one.inputTokens);
    family('gateway_output_tokens_total', 'counter', 'Output tokens settled.');
    each('gateway_output_tokens_total', (one) => one.outputTokens);
    family('gateway_images_total', 'counter', 'Images delivered.');
    each('gateway_images_total', (one) => one.images);
    for (const [name, value] of Object.entries(gauges)) {
      family(name, 'gauge', name.replaceAll('_', ' '));
      lines.push(`${name} ${value}`);
    }
    return `${lines.join('\n')}\n`;
  }
}

function bucketOf(seconds: number): number {
  let index = 0;
  while (index < buckets.length && seconds > buckets[index]!) index++;
  return index;
}

function histogram(route: string, metrics: RouteMetrics): string[] {
  let sum = 0;
  const lines = metrics.durations.map((count, index) => {
    sum += count;
    return `gateway_request_duration_seconds_bucket{route="${route}",le="${buckets[index] ?? '+Inf'}"} ${sum}`;
  });
  return [
    ...lines,
    `gateway_request_duration_seconds_sum{route="${route}"} ${metrics.seconds}`,
    `gateway_request_duration_seconds_count{route="${route}"} ${sum}`,
  ];
}
