import { type Bench, chatBody, interleave, mid } from '../bench.ts';
import type { Stage } from '../results.ts';
import { steps } from '../steps.ts';

export async function measureStages(bench: Bench): Promise<Stage[]> {
  const { gateway } = bench;
  const cases = steps.map((_, index) => ({
    target: gateway,
    load: { path: `/step${index}/v1/chat/completions`, body: chatBody(), connections: 64 },
  }));
  const results = await interleave(bench, 'stages', cases);
  return steps.map((chain, index) => ({
    chain: chain.join(' → '),
    cpu: mid(results[index]!, (one) => one.cpuPerRequest),
  }));
}
