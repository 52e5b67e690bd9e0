import type OpenAI from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stack } from '../kit/stack.ts';
import {
  all,
  clientOf,
  eventsOf,
  receivedBodies,
  startResponsesStack,
  translated,
  viaAnthropic,
  viaChat,
  viaGemini,
  viaNative,
  viaReasoner,
  weather,
} from './support.ts';

let stack: Stack;
let client: OpenAI;
beforeAll(async () => {
  stack = await startResponsesStack({
    edit({ channels, models }) {
      // Two accounts behind one model: what one keeps the other does not know.
      const own = channels.channels['only-responses'];
      own.credentials = ['sk-simulated-one', 'sk-simulated-two'];
      for (const name of ['many-first', 'many-second'])
        channels.channels[name] = { ...own, credentials: [`sk-${name}`], models: { many: 'gpt-5.5' } };
      models.models.many = { ...models.models[viaNative] };
      channels.channels['many-chat'] = {
        ...channels.channels['only-chat'],
        models: { 'native-chat-2': 'gpt-4.1-mini' },
      };
      models.models['native-chat-2'] = { ...models.models[viaNative] };
    },
  });
  client = clientOf(stack);
});
afterAll(() => stack.close());

const sent = () => JSON.stringify(receivedBodies(stack).at(-1));

async function otherUser(): Promise<string> {
  const { accounts } = stack.gateway.ledger;
  const user = await accounts.createUser({ name: `other-${crypto.randomUUID()}` });
  await accounts.credit(user.id, 1_000_000, 'test');
  return (await accounts.createKey({ userId: user.id, name: 'other', group: 'default' })).secret;
}

describe('4.1 POST /v1/responses with previous_response_id', () => {
  it.each(all)('goes on over several turns, whole and streamed, with tools: %s', async (model) => {
    const first = await client.responses.create({ model, input: 'Call me Ada [calls=0]', tools: [weather] });
    const second = await client.responses.create({
      model,
      input: 'Weather? [calls=2]',
      previous_response_id: first.id,
      tools: [weather],
      stream: true,
    });
    const last = (await eventsOf(second)).at(-1)!;
    if (last.type !== 'response.completed') throw new Error(last.type);
    expect(last.response.previous_response_id).toBe(first.id);
    const results = last.response.output.flatMap((item): ResponseInputItem[] =>
      item.type === 'function_call' ? [{ type: 'function_call_output', call_id: item.call_id, output: '7' }] : [],
    );
    expect(results).toHaveLength(2);
    const third = await client.responses.create({
      model,
      input: results,
      previous_response_id: last.response.id,
      tools: [weather],
    });
    expect(third).toMatchObject({ status: 'completed', previous_response_id: last.response.id });
    // A branch from the first answer knows nothing of the others.
    const branch = await client.responses.create({ model, input: 'Who am I?', previous_response_id: first.id });
    expect(branch.output_text).toContain('Who am I?');
    if (model !== viaNative) {
      expect(sent()).toContain('Call me Ada');
      expect(sent()).not.toContain('Weather?');
    }
  });

  it('instructions are not inherited', async () => {
    const first = await client.responses.create({ model: viaChat, instructions: 'Be a pirate.', input: 'Hi' });
    await client.responses.create({ model: viaChat, input: 'And?', previous_response_id: first.id });
    expect(sent()).not.toContain('pirate');
  });

  it('what the gateway keeps goes on at any vendor', async () => {
    let id: string | null = null;
    for (const [index, model] of [viaAnthropic, viaGemini, viaChat, viaAnthropic].entries()) {
      const response: OpenAI.Responses.Response = await client.responses.create({
        model,
        input: `Turn ${index}`,
        reasoning: { effort: 'low', summary: 'auto' },
        ...(id === null ? {} : { previous_response_id: id }),
      });
      id = response.id;
      for (let turn = 0; turn <= index; turn++) expect(sent()).toContain(`Turn ${turn}`);
    }
    // From there a vendor that keeps its own answers takes over the whole conversation, and goes on alone.
    const native = await client.responses.create({ model: viaNative, input: 'Turn 4', previous_response_id: id });
    for (let turn = 0; turn <= 4; turn++) expect(sent()).toContain(`Turn ${turn}`);
    const alone = await client.responses.create({
      model: viaNative,
      input: 'Turn 5',
      previous_response_id: native.id,
    });
    expect(sent()).not.toContain('Turn 4');
    expect(alone.status).toBe('completed');
  });

  it.each(translated)('what a vendor keeps goes on there only, and the client is told: %s', async (model) => {
    const first = await client.responses.create({ model: viaNative, input: 'Hi' });
    await expect(
      client.responses.create({ model, input: 'And?', previous_response_id: first.id }),
    ).rejects.toMatchObject({
      status: 400,
      param: 'previous_response_id',
      message: expect.stringContaining('use the model'),
    });
  });

  it('of several accounts the one that answered is asked again, with its credential', async () => {
    const channels = new Set<string | null>();
    for (let round = 0; round < 8; round++) {
      const first = await client.responses.create({ model: 'many', input: 'Hi' });
      const second = await client.responses.create({ model: 'many', input: 'And?', previous_response_id: first.id });
      const third = await client.responses.create({ model: viaNative, input: 'Hi' });
      const fourth = await client.responses.create({ model: viaNative, input: '?', previous_response_id: third.id });
      expect([second.status, fourth.status]).toEqual(['completed', 'completed']);
    }
    for (const row of await stack.usage()) if (row.model === 'many') channels.add(row.channel);
    expect(channels).toEqual(new Set(['many-first', 'many-second']));
  });

  it('what only its maker can read goes back to its maker', async () => {
    for (let round = 0; round < 6; round++) {
      const asked = {
        model: 'many',
        store: false,
        include: ['reasoning.encrypted_content' as const],
        reasoning: { effort: 'low' as const },
        stream: false as const,
      };
      const question: ResponseInputItem = { role: 'user', content: 'Think [reasoning=4]' };
      const first = await client.responses.create({ ...asked, input: [question] });
      const next = await client.responses.create({
        ...asked,
        input: [question, ...(first.output as ResponseInputItem[]), { role: 'user', content: 'And?' }],
      });
      expect(next.status).toBe('completed');
    }
  });

  it('an account that is gone is named, and no other is asked', async () => {
    const first = await client.responses.create({ model: viaReasoner, input: 'Hi' });
    await stack.rewrite(({ channels }) => {
      channels.channels['only-responses'].credentials = ['sk-simulated-three'];
    });
    await stack.gateway.reload();
    const before = stack.simulator.received.length;
    await expect(
      client.responses.create({ model: viaReasoner, input: 'And?', previous_response_id: first.id }),
    ).rejects.toMatchObject({ status: 400, param: 'previous_response_id' });
    await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 503 });
    expect(stack.simulator.received.length).toBe(before);
    await stack.rewrite(({ channels }) => {
      channels.channels['only-responses'].credentials = ['sk-simulated-one', 'sk-simulated-two'];
    });
    await stack.gateway.reload();
  });

  it('an account that fails is not replaced by another', async () => {
    const first = await client.responses.create({ model: 'many', input: 'Hi' });
    stack.simulator.faults.add({ match: { path: '/responses', times: 1 }, fault: { status: 503 } });
    await expect(
      client.responses.create({ model: 'many', input: 'And?', previous_response_id: first.id }),
    ).rejects.toMatchObject({ status: 503 });
    const [row] = await stack.usage();
    expect(row!.attempts).toBe(1);
    const again = await client.responses.create({ model: 'many', input: 'And?', previous_response_id: first.id });
    expect(again.status).toBe('completed');
  });

  it('7 an account that rests is left alone by those who must have it, too: they could make its rest longer', async () => {
    const first = await client.responses.create({ model: viaNative, input: 'Hi' });
    const goOn = () => client.responses.create({ model: viaNative, input: 'And?', previous_response_id: first.id });
    stack.simulator.faults.add({ match: { path: '/responses', times: 1 }, fault: { status: 429 } });
    await expect(goOn()).rejects.toMatchObject({ status: 429 });
    const before = stack.simulator.received.length;
    await expect(goOn()).rejects.toMatchObject({ status: 503, code: 'no_channel_available' });
    expect(stack.simulator.received.length).toBe(before);
    // The other credential serves those who may have any.
    expect((await client.responses.create({ model: viaNative, input: 'Hi' })).status).toBe('completed');
    await expect.poll(async () => (await goOn()).status, { timeout: 3000, interval: 200 }).toBe('completed');
  });

  it.each([viaNative, viaChat])(
    'unknown ones, another user’s and those not stored are not found: %s',
    async (model) => {
      const own = await client.responses.create({ model, input: 'Secret' });
      const unstored = await client.responses.create({ model, input: 'Secret', store: false });
      const stranger = clientOf(stack, await otherUser());
      const follow = (one: OpenAI, previous_response_id: string) =>
        one.responses.create({ model, input: 'And?', previous_response_id });
      const notFound = { status: 404, param: 'previous_response_id', code: 'previous_response_not_found' };
      const received = stack.simulator.received.length;
      await expect(follow(stranger, own.id)).rejects.toMatchObject(notFound);
      await expect(follow(client, unstored.id)).rejects.toMatchObject(notFound);
      await expect(follow(client, 'resp_none')).rejects.toMatchObject(notFound);
      expect(stack.simulator.received.length).toBe(received);
    },
  );

  it('a second key of the same user goes on as well', async () => {
    const first = await client.responses.create({ model: viaChat, input: 'Hi' });
    const other = clientOf(stack, await stack.createKey());
    const second = await other.responses.create({ model: viaChat, input: 'And?', previous_response_id: first.id });
    expect(second.status).toBe('completed');
  });
});

describe('items named by their id', () => {
  it.each(all)('stand for themselves where they are kept: %s', async (model) => {
    const first = await client.responses.create({ model, input: 'Remember me' });
    const id = first.output.at(-1)!.id!;
    const second = await client.responses.create({
      model,
      input: [
        { role: 'user', content: 'What was it?' },
        { type: 'item_reference', id },
        { role: 'user', content: 'Repeat it' },
      ],
    });
    expect(second.status).toBe('completed');
    if (model !== viaNative) expect(sent()).toContain('Remember me');
    const third = await client.responses.create({ model, input: 'Once more', previous_response_id: second.id });
    expect(third.output_text).toContain('Once more');
    await expect(
      client.responses.create({ model, input: [{ type: 'item_reference', id: 'msg_none' }] }),
    ).rejects.toMatchObject({ status: 404 });
    const stranger = clientOf(stack, await otherUser());
    await expect(stranger.responses.create({ model, input: [{ type: 'item_reference', id }] })).rejects.toMatchObject({
      status: 404,
    });
  });
});

describe('5 ids that clients choose themselves', () => {
  it.each(translated)('belong to each user alone: nobody can take one away from another: %s', async (model) => {
    const stranger = clientOf(stack, await otherUser());
    const id = `msg_chosen_${model}`;
    const say = (text: string) => [{ type: 'message' as const, id, role: 'user' as const, content: text }];
    await stranger.responses.create({ model, input: say('Theirs') as ResponseInputItem[] });
    await client.responses.create({ model, input: say('Mine') as ResponseInputItem[] });
    await client.responses.create({ model, input: [{ type: 'item_reference', id }] });
    expect(sent()).toContain('Mine');
    expect(sent()).not.toContain('Theirs');
  });
});

describe('7 items that are named so often, or so many, that no model could read them', () => {
  const message = (text: string) => ({ type: 'message' as const, role: 'user' as const, content: text });

  it('are refused before they are put together', async () => {
    const input = [message('x'.repeat(1_200_000)), message('small')];
    const { id } = await client.responses.create({ model: viaChat, input });
    const [large, small] = (await client.responses.inputItems.list(id, { order: 'asc' })).data;
    const referred = (item: { id?: string | null } | undefined, times: number) =>
      client.responses.create({
        model: viaChat,
        input: Array.from({ length: times }, () => ({ type: 'item_reference' as const, id: item!.id! })),
      });
    await expect(referred(large, 60)).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'input',
    });
    expect((await referred(small, 60)).status).toBe('completed');
  });
});

describe('4.1 GET and DELETE /v1/responses/{id}', () => {
  it.each(all)('give back what was answered, list its input, and forget it: %s', async (model) => {
    const created = await client.responses.create({ model, input: 'Keep this', metadata: { a: 'b' } });
    const { output_text: _text, ...plain } = created;
    expect(await client.responses.retrieve(created.id)).toMatchObject({ ...plain });
    const items = await client.responses.inputItems.list(created.id, { order: 'asc' });
    expect(items.data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Keep this' }] },
    ]);
    const stranger = clientOf(stack, await otherUser());
    await expect(stranger.responses.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
    await expect(stranger.responses.inputItems.list(created.id)).rejects.toMatchObject({ status: 404 });
    await expect(stranger.responses.delete(created.id)).rejects.toMatchObject({ status: 404 });
    await client.responses.delete(created.id);
    await expect(client.responses.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
    await expect(client.responses.delete(created.id)).rejects.toMatchObject({ status: 404 });
    await expect(
      client.responses.create({ model, input: 'And?', previous_response_id: created.id }),
    ).rejects.toMatchObject({ status: 404 });
  });

  it('input items come in pages', async () => {
    const input = [0, 1, 2].map((turn) => ({ role: 'user' as const, content: `Item ${turn}` }));
    const { id } = await client.responses.create({ model: viaChat, input });
    const first = await client.responses.inputItems.list(id, { limit: 2 });
    expect(first.data).toHaveLength(2);
    expect(JSON.stringify(first.data[0])).toContain('Item 2');
    expect(first.has_more).toBe(true);
    const rest = await first.getNextPage();
    expect(JSON.stringify(rest.data)).toContain('Item 0');
    await expect(client.responses.inputItems.list(id, { limit: 1000 })).rejects.toMatchObject({ status: 400 });
  });

  it('need a key, and answer HEAD and unknown methods as every route', async () => {
    const answer = await fetch(`${stack.base}/responses/resp_1`);
    expect(answer.status).toBe(401);
    expect((await fetch(`${stack.base}/responses/resp_1`, { method: 'PUT' })).status).toBe(405);
  });

  it('a vendor that has given an answer up before the gateway did is believed', async () => {
    const created = await client.responses.create({ model: viaReasoner, input: 'Hi' });
    stack.simulator.faults.add({ match: { path: `/responses/${created.id}`, times: 1 }, fault: { status: 404 } });
    await expect(client.responses.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
    await expect(client.responses.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
  });
});
