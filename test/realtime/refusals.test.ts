import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bearer, open, Room, refusal, served } from './support.ts';

let room: Room;
beforeAll(async () => {
  room = await Room.start();
});
afterAll(() => room.close());
afterEach(() => room.stack.simulator.faults.clear());

const unknown = `sk-${'a'.repeat(48)}`;
const count = () => room.stack.simulator.received.length;

describe('7 refusals before the upgrade', () => {
  it.each([
    ['no key', {}, 'model=demo-realtime', 401, 'missing_api_key'],
    ['an unknown key', bearer(unknown), 'model=demo-realtime', 401, 'invalid_api_key'],
    ['a malformed key', bearer('nonsense'), 'model=demo-realtime', 401, 'malformed_api_key'],
    ['no model', null, '', 400, 'missing_required_parameter'],
    ['an unknown model', null, 'model=nope', 404, 'model_not_found'],
    ['a model without the capability', null, 'model=demo-chat', 400, 'unsupported_endpoint'],
    ['an empty model', null, 'model=', 400, 'missing_required_parameter'],
  ])('7 %s', async (_what, headers, query, status, code) => {
    const before = count();
    const refused = await refusal(open(room.stack.base, { headers: headers ?? bearer(room.stack.key), query }));
    expect(refused.status).toBe(status);
    expect(refused.body.error).toMatchObject({ code, message: expect.stringContaining('(request id: req_') });
    expect(refused.headers['x-request-id']).toMatch(/^req_/);
    expect(count()).toBe(before);
  });

  it('7 a bad key in the subprotocol', async () => {
    const protocols = ['realtime', `openai-insecure-api-key.${unknown}`];
    const refused = await refusal(open(room.stack.base, { protocols }));
    expect(refused).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } });
  });

  it('7 403 for a key that may not use the model', async () => {
    const key = await room.stack.createKey({ models: ['demo-chat'] });
    expect(await refusal(open(room.stack.base, { headers: bearer(key) }))).toMatchObject({
      status: 403,
      body: { error: { code: 'model_not_allowed' } },
    });
  });

  it('7 429 where quota does not cover an answer', async () => {
    const key = await room.stack.createKey({ quota: 10 });
    expect(await refusal(open(room.stack.base, { headers: bearer(key) }))).toMatchObject({
      status: 429,
      body: { error: { code: 'insufficient_quota' } },
    });
  });

  it('8 429 for one session more than the key may have at once; an ended one makes room', async () => {
    const key = await room.stack.createKey({ limits: { concurrency: 1 } });
    const first = await room.open({ headers: bearer(key) });
    const refused = await refusal(open(room.stack.base, { headers: bearer(key) }));
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'concurrency_limit_exceeded' } } });
    first.socket.close();
    await room.rows(first);
    await room.open({ headers: bearer(key) });
  });

  it('8 answers count against the tokens per minute: the next session is refused', async () => {
    const key = await room.stack.createKey({ limits: { tokensPerMinute: 20 } });
    const client = await room.converse('Hello [tokens=200]', { headers: bearer(key) });
    await client.until('response.done');
    await client.until('rate_limits.updated');
    const refused = await refusal(open(room.stack.base, { headers: bearer(key) }));
    // The whole minute is spoken for, but a session takes no tokens in advance.
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'token_limit_exceeded' } } });
  });

  it('4.1 without an upgrade: 400 says that it is a WebSocket, and only to those with a key', async () => {
    const ask = (headers: Record<string, string>) =>
      fetch(`${room.stack.base}/realtime?model=demo-realtime`, { headers });
    const answer = await ask(bearer(room.stack.key));
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'upgrade_required' } }]);
    expect((await ask({})).status).toBe(401);
    const post = await room.stack.post('/realtime', {});
    expect(post.status).toBe(405);
  });

  it('4.1 an upgrade on another route is an ordinary request', async () => {
    const base = room.stack.base.replace(/v1$/, 'v1/models?x=');
    const refused = await refusal(open(base, { headers: bearer(room.stack.key) }));
    expect(refused).toMatchObject({ status: 200, body: { object: 'list' } });
  });

  it.each([
    ['status=401', 502, 'upstream_error'],
    ['status=429,retryAfter=7', 429, 'upstream_rate_limited'],
    ['status=500', 502, 'upstream_error'],
    ['status=503', 503, 'upstream_overloaded'],
    ['reset=now', 502, 'upstream_unreachable'],
    ['error200', 502, 'upstream_error'],
    ['wrongtype', 502, 'upstream_error'],
    ['empty200', 502, 'upstream_error'],
  ])('7 a vendor’s %s is answered with %i', async (fault, status, code) => {
    const own = new Room((await Room.start({ edit: served(`gpt-realtime!${fault}`) })).stack);
    const refused = await refusal(own.open());
    expect([refused.status, refused.body.error.code]).toEqual([status, code]);
    expect((await own.stack.usage()).map(({ quota, outcome }) => [quota, outcome])).toEqual([[0, 'error']]);
    await own.close();
  });
});
