import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../simulator/index.ts';

/** A simulator for a whole test file, emptied before each test. The holder is filled before the first test. */
export function useSimulator(options: SimulatorOptions = {}): { readonly current: Simulator } {
  let simulator: Simulator | undefined;
  beforeAll(async () => {
    simulator = await startSimulator(options);
  });
  beforeEach(() => simulator?.reset());
  afterAll(() => simulator?.close());
  return {
    get current() {
      if (!simulator) throw new Error('the simulator is not running yet');
      return simulator;
    },
  };
}

export interface JsonReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, asserted field by field
  readonly body: any;
}

/** Posts JSON (or a form) with a credential for every vendor, and parses the answer. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<JsonReply> {
  const isForm = body instanceof FormData;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...(isForm ? {} : { 'content-type': 'application/json' }),
      authorization: 'Bearer sk-good',
      'x-goog-api-key': 'good',
      ...headers,
    },
    body: isForm ? body : typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** The `data:` payloads of an SSE text, `[DONE]` included. */
export function payloadsOf(text: string): string[] {
  return text
    .split(/\r?\n\r?\n/)
    .filter((frame) => frame !== '')
    .map((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? '');
}
