import { type Bench, chatBody, note } from '../bench.ts';
import { runLoad } from '../load.ts';
import { type Row, row } from '../results.ts';

const most = 100;

export async function reloads({ gateway, quick }: Bench): Promise<Row[]> {
  note(`${most} reloads under load`);
  let loading = true;
  const load = runLoad(gateway, {
    path: '/v1/chat/completions',
    body: chatBody(),
    connections: 32,
    seconds: quick ? 4 : 12,
  }).finally(() => {
    loading = false;
  });
  let done = 0;
  for (; loading && done < most; done++) await gateway.ask({ ask: 'reload' });
  const { failures } = await load;
  const met = failures === 0 && (quick || done === most);
  return [row(`${done} reloads under load`, 'failed requests', { gateway: failures, goal: '0', met })];
}
