import { type Bench, framesOf, interleave, mid, streamBody } from '../bench.ts';
import { type Row, row } from '../results.ts';

const words = 100;
const highest = 3;
const figure = 'CPU µs / event';

const chat = (body: string) => ({ path: '/v1/chat/completions', body, connections: 100 });
const messages = (body: string) => ({ path: '/v1/messages', body, connections: 100 });

/** Streams between a client and a vendor of different protocols, beside the same stream where both speak the same. */
export async function translated(bench: Bench): Promise<Row[]> {
  const { gateway } = bench;
  const limit = { max_tokens: 1000 };
  const cases = [
    ['chat client, chat vendor', chat(streamBody(words, 10))],
    ['messages client, chat vendor', messages(streamBody(words, 10, limit))],
    ['chat client, messages vendor', chat(streamBody(words, 10, { model: 'demo-claude' }))],
    ['messages client, messages vendor', messages(streamBody(words, 10, { model: 'demo-claude', ...limit }))],
  ] as const;
  const results = await interleave(
    bench,
    'translated streams',
    cases.map(([, load]) => ({ target: gateway, load })),
  );
  const cpu = results.map((one) => mid(one, ({ cpuPerRequest }) => cpuPerRequest) / framesOf(words));
  return cases.map(([what], index) => {
    const name = `stream, ${what}`;
    if (index === 0) return row(name, figure, { gateway: cpu[0]! });
    const ratio = cpu[index]! / cpu[0]!;
    const goal = { goal: `≤ ${highest} × the first`, met: ratio <= highest };
    return row(name, figure, { gateway: cpu[index]!, ratio, ...goal });
  });
}
