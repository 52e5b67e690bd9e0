/** Who may read the metrics. */
import { expect, it } from 'vitest';
import { startStack } from '../kit/stack.ts';

const ask = (url: string, authorization?: string) =>
  fetch(`${url}/metrics`, authorization === undefined ? {} : { headers: { authorization } });

it('metrics with a token are for those who send it', async () => {
  const token = 'a-long-secret-for-metrics';
  const stack = await startStack({
    edit({ gateway }) {
      gateway.metrics = { token };
    },
  });
  const { url } = stack.gateway;
  for (const wrong of [undefined, token, 'Bearer ', 'Bearer a-long-secret-for-metricz', `Basic ${token}`]) {
    const refused = await ask(url, wrong);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await refused.text()).not.toContain('gateway_');
  }
  const answer = await ask(url, `Bearer ${token}`);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('gateway_requests_running 0');
  await stack.close();
});
