import { afterEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../simulator/index.ts';
import { openRealtime, type RealtimeClient } from './realtime-client.ts';
import { useSimulator } from './start.ts';

const simulator = useSimulator();
const opened: RealtimeClient[] = [];
const open = async (
  ...rest: [query?: string, options?: Parameters<typeof openRealtime>[2]]
): Promise<RealtimeClient> => {
  const client = await openRealtime(simulator.current.url, ...rest);
  opened.push(client);
  return client;
};
afterEach(() => {
  for (const { socket } of opened.splice(0)) socket.terminate();
});

const say = (text: string) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});
const CREATE = { type: 'response.create' };
const TEXT = { type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } };
/** A session in text that was told something and answered. */
const converse = async (text: string, query?: string): Promise<RealtimeClient> => {
  const client = await open(query);
  client.send(TEXT, say(text), CREATE);
  return client;
};
const received = () => simulator.current.received.at(-1)!;

describe('the handshake', () => {
  it('takes the key from the header, or as a browser sends it, and names the session first', async () => {
    const byHeader = await open();
    expect(await byHeader.until('session.created')).toMatchObject({
      event_id: expect.stringMatching(/^event_/),
      session: { object: 'realtime.session', model: 'gpt-realtime', output_modalities: ['audio'] },
    });
    expect(byHeader.events[0].type).toBe('session.created');
    const protocols = ['realtime', 'openai-insecure-api-key.sk-good'];
    const byProtocol = await open('model=gpt-realtime-mini', { protocols, headers: {} });
    expect(byProtocol.socket.protocol).toBe('realtime');
    expect(received()).toMatchObject({
      vendor: 'openai',
      path: '/openai/v1/realtime?model=gpt-realtime-mini',
      status: 101,
      events: 1,
    });
  });

  it.each([
    ['model=gpt-realtime', {}, 401, null],
    ['model=gpt-realtime', { authorization: 'Bearer sk-bad' }, 401, 'invalid_api_key'],
    ['model=gpt-realtime', { authorization: 'Bearer quota' }, 429, 'insufficient_quota'],
    ['model=gpt-nope', { authorization: 'Bearer k' }, 404, 'model_not_found'],
    ['model=gpt-5.5', { authorization: 'Bearer k' }, 404, null],
    ['intent=none', { authorization: 'Bearer k' }, 400, 'missing_required_parameter'],
    ['model=gpt-realtime!status=503', { authorization: 'Bearer k' }, 503, 'server_is_overloaded'],
    ['model=gpt-realtime!error200', { authorization: 'Bearer k' }, 200, null],
  ])('of %s with %j is answered with %i', async (query, headers, status, code) => {
    const error = await open(query, { headers }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status });
    expect(JSON.parse((error as { text: string }).text).error).toMatchObject({ code });
    expect(received()).toMatchObject({ status, socket: { frames: [] } });
  });

  it('is refused with a bad key in a subprotocol, on other paths, and for faults nobody knows', async () => {
    const protocols = ['realtime', 'openai-insecure-api-key.sk-invalid'];
    await expect(open(undefined, { protocols, headers: {} })).rejects.toMatchObject({ status: 401 });
    await expect(openRealtime(`${simulator.current.url}/elsewhere`)).rejects.toMatchObject({ status: 404 });
    await expect(open('model=gpt-realtime!explode')).rejects.toMatchObject({ status: 400 });
  });

  it('is late, empty, of the wrong type or reset as a rule asks', async () => {
    const { faults } = simulator.current;
    faults.add({
      match: { path: '/realtime', model: 'gpt-realtime', times: 1 },
      fault: { status: 429, retryAfter: 4 },
    });
    await expect(open()).rejects.toMatchObject({ status: 429, headers: { 'retry-after': '4' } });
    await expect(open('model=gpt-realtime!wrongtype')).rejects.toMatchObject({
      text: expect.stringContaining('<html>'),
    });
    await expect(open('model=gpt-realtime!empty200')).rejects.toMatchObject({ status: 200, text: '' });
    await expect(open('model=gpt-realtime!reset=read')).rejects.toMatchObject({ code: 'ECONNRESET' });
    const start = performance.now();
    await open('model=gpt-realtime!latency=100');
    expect(performance.now() - start).toBeGreaterThan(95);
  });
});

describe('a session', () => {
  it('runs a turn in text with the documented events and usage', async () => {
    const client = await converse('Hi [chunks=3] [tokens=20] [cached=6]');
    const done = await client.until('response.done');
    await client.until('rate_limits.updated');
    expect(client.types()).toEqual([
      'session.created',
      'session.updated',
      'conversation.item.added',
      'conversation.item.done',
      'response.created',
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      ...new Array(3).fill('response.output_text.delta'),
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'conversation.item.done',
      'response.done',
      'rate_limits.updated',
    ]);
    expect(client.events[1].session.output_modalities).toEqual(['text']);
    expect(client.events[2]).toMatchObject({ previous_item_id: null, item: { role: 'user' } });
    expect(client.events[6].previous_item_id).toBe(client.events[2].item.id);
    const text = client.events
      .flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta] : []))
      .join('');
    expect(text).toMatch(/^You said: Hi – Grüße aus 東京 🙂/);
    const asked = 4 + Math.ceil('Hi [chunks=3] [tokens=20] [cached=6]'.length / 4);
    expect(done.response).toMatchObject({
      object: 'realtime.response',
      status: 'completed',
      status_details: null,
      output: [{ role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] }],
      usage: {
        total_tokens: asked + 20,
        input_tokens: asked,
        output_tokens: 20,
        input_token_details: { text_tokens: asked, audio_tokens: 0, image_tokens: 0, cached_tokens: 6 },
        output_token_details: { text_tokens: 20, audio_tokens: 0 },
      },
    });
    client.send(say('again [tokens=10]'), CREATE);
    const second = await client.until('response.done', client.events.length);
    expect(second.response.usage.input_tokens).toBe(asked + 4 + 20 + 4 + Math.ceil('again [tokens=10]'.length / 4));
  });

  it('speaks, with transcript and audio tokens', async () => {
    const client = await open();
    client.send(say('Hi [chunks=4] [tokens=12] [bytes=96000]'), CREATE);
    const { response } = await client.until('response.done');
    const deltas = client.events.filter(({ type }) => type === 'response.output_audio.delta');
    expect(deltas).toHaveLength(4);
    expect(Buffer.concat(deltas.map(({ delta }) => Buffer.from(delta, 'base64')))).toHaveLength(96_000);
    expect(client.types().filter((type) => type === 'response.output_audio_transcript.delta')).toHaveLength(4);
    expect((await client.until('response.output_audio_transcript.done')).transcript).toContain('You said');
    expect(response.usage.output_token_details).toEqual({ text_tokens: 12, audio_tokens: 40 });
    expect(response.output[0].content[0].type).toBe('output_audio');
  });

  it('listens: appended sound is committed to an item, transcribed where asked, and billed as sound', async () => {
    const client = await open();
    const transcription = { audio: { input: { transcription: { model: 'gpt-4o-transcribe' } } } };
    client.send({
      type: 'session.update',
      session: { type: 'realtime', output_modalities: ['text'], ...transcription },
    });
    const audio = Buffer.alloc(24_000, 3).toString('base64');
    client.send({ type: 'input_audio_buffer.append', audio }, { type: 'input_audio_buffer.append', audio });
    client.send({ type: 'input_audio_buffer.commit' }, CREATE);
    const committed = await client.until('input_audio_buffer.committed');
    const { item } = await client.until('conversation.item.added');
    expect(item).toMatchObject({ id: committed.item_id, content: [{ type: 'input_audio' }] });
    const heard = await client.until('conversation.item.input_audio_transcription.completed');
    expect(heard).toMatchObject({
      item_id: item.id,
      transcript: '48000 bytes of sound',
      usage: { type: 'tokens', input_tokens: 10, input_token_details: { audio_tokens: 10 } },
    });
    const { response } = await client.until('response.done');
    expect(response.usage.input_token_details).toMatchObject({ audio_tokens: 10 });
    client.send({ type: 'input_audio_buffer.append', audio }, { type: 'input_audio_buffer.clear' });
    await client.until('input_audio_buffer.cleared');
    client.send({ type: 'input_audio_buffer.commit' });
    expect((await client.until('error')).error.code).toBe('input_audio_buffer_commit_empty');
  });

  it('calls tools, and answers in text after their result', async () => {
    const client = await open();
    const tools = [{ type: 'function', name: 'lookup', parameters: { properties: { id: { type: 'integer' } } } }];
    client.send({ type: 'session.update', session: { ...TEXT.session, tools } }, say('look'), CREATE);
    const done = await client.until('response.function_call_arguments.done');
    expect(JSON.parse(done.arguments)).toEqual({ id: 42 });
    const { response } = await client.until('response.done');
    expect(response.output).toMatchObject([{ type: 'function_call', name: 'lookup', call_id: done.call_id }]);
    const output = { type: 'function_call_output', call_id: done.call_id, output: '42' };
    client.send({ type: 'conversation.item.create', item: output }, CREATE);
    const after = await client.until('response.done', client.events.length);
    expect(after.response.output).toMatchObject([{ type: 'message' }]);
  });

  it('cancels a response, billing what was said', async () => {
    const client = await converse('Hi [chunks=50] [tokens=500] [delay=10]');
    await client.until('response.output_text.delta');
    client.send(CREATE);
    expect((await client.until('error')).error.code).toBe('conversation_already_has_active_response');
    client.send({ type: 'response.cancel' });
    const { response } = await client.until('response.done');
    expect(response).toMatchObject({ status: 'cancelled', status_details: { reason: 'client_cancelled' } });
    expect(response.usage.output_tokens).toBeGreaterThan(0);
    expect(response.usage.output_tokens).toBeLessThan(500);
    expect(response.output).toMatchObject([{ status: 'incomplete' }]);
    await client.until('rate_limits.updated');
    const count = client.events.length;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(client.events).toHaveLength(count);
    client.send({ type: 'response.cancel', event_id: 'mine' });
    expect((await client.until('error', count)).error).toMatchObject({
      code: 'response_cancel_not_active',
      event_id: 'mine',
    });
  });

  it('honours a response’s own input, modality and limit, and keeps it out of the conversation', async () => {
    const client = await open();
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'aside' }] }];
    const own = {
      conversation: 'none',
      input,
      output_modalities: ['text'],
      max_output_tokens: 3,
      metadata: { a: 'b' },
    };
    client.send({ type: 'response.create', response: own });
    const { response } = await client.until('response.done');
    expect(response).toMatchObject({
      status: 'incomplete',
      status_details: { reason: 'max_output_tokens' },
      metadata: { a: 'b' },
      usage: { output_tokens: 3, input_tokens: 6 },
    });
    expect(client.types()).not.toContain('conversation.item.added');
  });

  it('retrieves, truncates and deletes items', async () => {
    const client = await open();
    client.send(
      { ...say('one'), item: { ...say('one').item, id: 'first' } },
      { ...say('zero'), previous_item_id: 'root' },
    );
    client.send({ type: 'conversation.item.retrieve', item_id: 'first' });
    expect((await client.until('conversation.item.retrieved')).item.content[0].text).toBe('one');
    client.send({ type: 'conversation.item.truncate', item_id: 'first', content_index: 0, audio_end_ms: 10 });
    expect(await client.until('conversation.item.truncated')).toMatchObject({ item_id: 'first', audio_end_ms: 10 });
    client.send(
      { type: 'conversation.item.delete', item_id: 'first' },
      { type: 'conversation.item.delete', item_id: 'first' },
    );
    await client.until('conversation.item.deleted');
    expect((await client.until('error')).error.code).toBe('item_delete_invalid_item_id');
  });

  it.each([
    ['not json', null, 'invalid_json'],
    ['[1]', null, 'invalid_json'],
    ['{}', 'type', 'missing_required_parameter'],
    [{ type: 'session.explode' }, 'type', 'invalid_value'],
    [
      { type: 'session.update', session: { output_modalities: ['text'] } },
      'session.type',
      'missing_required_parameter',
    ],
    [
      { type: 'session.update', session: { type: 'realtime', modalities: ['text'] } },
      'session.modalities',
      'unknown_parameter',
    ],
    [
      { type: 'session.update', session: { type: 'realtime', output_modalities: ['text', 'audio'] } },
      'session.output_modalities',
      'array_above_max_length',
    ],
    [{ type: 'session.update', session: { type: 'realtime', model: 'other' } }, 'session.model', 'cannot_update_model'],
    [{ type: 'input_audio_buffer.append', audio: '%%%' }, 'audio', 'invalid_value'],
    [{ type: 'conversation.item.create', item: { type: 'thing' } }, 'item.type', 'invalid_value'],
    [
      {
        type: 'conversation.item.create',
        item: { type: 'message', role: 'system', content: [{ type: 'output_text', text: 'x' }] },
      },
      'item.content[0].type',
      'invalid_value',
    ],
    [{ ...say('x'), previous_item_id: 'nowhere' }, 'previous_item_id', 'item_create_invalid_previous_item_id'],
    [{ type: 'response.create', response: { foo: 1 } }, 'response.foo', 'unknown_parameter'],
  ])('answers %j with an error event and goes on', async (event, param, code) => {
    const client = await open();
    const text = typeof event === 'string' ? event : JSON.stringify({ ...event, event_id: 'mine' });
    client.socket.send(text);
    const event_id = typeof event === 'string' ? null : 'mine';
    expect((await client.until('error')).error).toMatchObject({ type: 'invalid_request_error', param, code, event_id });
    client.send(TEXT);
    await client.until('session.updated');
  });

  it('takes null for what is left out', async () => {
    const client = await open();
    const audio = { input: { format: null, turn_detection: null }, output: null };
    client.send({ type: 'session.update', session: { type: 'realtime', tools: null, instructions: null, audio } });
    const { session } = await client.until('session.updated');
    expect(session).toMatchObject({ tools: [], audio: { input: { turn_detection: null, format: { rate: 24_000 } } } });
    const content = [{ type: 'input_audio', audio: null, text: null }];
    client.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } }, CREATE);
    expect((await client.until('response.done')).response.status).toBe('completed');
  });

  it('refuses binary frames', async () => {
    const client = await open();
    client.socket.send(Buffer.from('{}'));
    expect((await client.until('error')).error.code).toBe('invalid_json');
  });

  it('records what the client sent and how it left', async () => {
    const client = await converse('Hi [chunks=500] [delay=20]');
    await client.until('response.output_text.delta');
    client.socket.send('not json');
    client.socket.ping();
    await client.until('error');
    expect(received().socket).toMatchObject({
      frames: [TEXT, say('Hi [chunks=500] [delay=20]'), CREATE, 'not json'],
      pings: 1,
    });
    client.socket.close(1000, 'OK');
    await expect.poll(() => received().socket!.closed).toEqual({ code: 1000, reason: 'OK' });
    expect(received().aborted).toBe(true);
    const reply = await fetch(`${simulator.current.url}/_control/received`);
    const { received: listed } = (await reply.json()) as { received: { socket: { frames: unknown[] } }[] };
    expect(listed[0]!.socket.frames).toHaveLength(4);
  });

  it('writes no faster than it is read', async () => {
    const client = await open();
    client.send(say('[bytes=30000000]'), CREATE);
    await client.until('response.output_audio.delta');
    client.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { events } = received();
    expect(events).toBeLessThan(400);
    client.socket.resume();
    await client.until('response.done');
    const sound = client.events.filter(({ type }) => type === 'response.output_audio.delta');
    const bytes = sound.reduce((sum, { delta }) => sum + Buffer.byteLength(delta, 'base64'), 0);
    expect(bytes).toBe(30_000_000);
  });

  it('takes large frames', async () => {
    const client = await open();
    client.send(
      { type: 'input_audio_buffer.append', audio: Buffer.alloc(15_000_000).toString('base64') },
      { type: 'input_audio_buffer.commit' },
    );
    await client.until('input_audio_buffer.committed');
    client.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(15_728_643).toString('base64') });
    expect((await client.until('error')).error.param).toBe('audio');
  });
});

describe('faults of a session', () => {
  const SAY_ALL = 4 + 4 + 8 + 4 + 2;

  it('cut destroys the connection after N events', async () => {
    const client = await converse('Hi', 'model=gpt-realtime!cut=6');
    expect((await client.closed).code).toBe(1006);
    expect(client.events).toHaveLength(6);
    expect(received()).toMatchObject({ events: 6, aborted: false });
    const none = await open('model=gpt-realtime!cut');
    expect((await none.closed).code).toBe(1006);
    expect(none.events).toEqual([]);
  });

  it('close closes with a code, before the first event or after some', async () => {
    const { faults } = simulator.current;
    faults.add({ match: { path: '/realtime', times: 1 }, fault: { close: 1013 } });
    const first = await open();
    expect(await first.closed).toEqual({ code: 1013, reason: 'closed by a fault' });
    expect(first.events).toEqual([]);
    const later = await converse('Hi', 'model=gpt-realtime!close=1001,after=9');
    expect((await later.closed).code).toBe(1001);
    expect(later.events).toHaveLength(9);
    expect(() => faults.add({ fault: { close: 1005 } })).toThrow('may be sent');
    expect(() => faults.add({ fault: { close: 2000 } })).toThrow('may be sent');
  });

  it('stall falls silent after N events, but answers pings', async () => {
    const client = await converse('Hi', 'model=gpt-realtime!stall=5');
    await expect.poll(() => client.events.length).toBe(5);
    const pong = new Promise((resolve) => client.socket.once('pong', resolve));
    client.socket.ping();
    await pong;
    expect(client.events).toHaveLength(5);
  });

  it('errorframe puts an error event after N events, and the session goes on', async () => {
    const client = await converse('Hi', 'model=gpt-realtime!errorframe=6');
    await client.until('rate_limits.updated');
    expect(client.events[6]).toMatchObject({ type: 'error', error: { type: 'server_error' } });
    expect(client.events).toHaveLength(SAY_ALL + 1);
    const first = await open('model=gpt-realtime!errorframe,close=1011,after=1');
    await first.closed;
    expect(first.types()).toEqual(['error']);
  });

  it('malformed, hugeline, nodone and nousage spoil events', async () => {
    const broken = await converse('Hi', 'model=gpt-realtime!malformed=1,hugeline=100000');
    await broken.until('response.done');
    expect(broken.events[1]).toBeTypeOf('string');
    expect(broken.events[0].type).toBe('session.created');
    const endless = await converse('Hi', 'model=gpt-realtime!nodone');
    await endless.until('rate_limits.updated');
    expect(endless.types()).not.toContain('response.done');
    const free = await converse('Hi', 'model=gpt-realtime!nousage');
    expect((await free.until('response.done')).response.usage).toBeNull();
  });

  it('refuse ends a response without output', async () => {
    const client = await converse('Hi', 'model=gpt-realtime!refuse=safety');
    expect((await client.until('response.done')).response).toMatchObject({
      status: 'incomplete',
      status_details: { reason: 'content_filter' },
      output: [],
      usage: { output_tokens: 0 },
    });
  });

  it.each(['split=7', 'trickle=200,delay=1'])('%s fragments messages, and loses nothing', async (fault) => {
    const client = await converse('Hi [chunks=2]', `model=gpt-realtime!${fault}`);
    const { response } = await client.until('response.done');
    expect(response.output[0].content[0].text).toContain('東京 🙂');
  });

  it('delay spaces the events of a response', async () => {
    const start = performance.now();
    const client = await converse('Hi [chunks=5]', 'model=gpt-realtime!delay=20');
    await client.until('response.done');
    expect(performance.now() - start).toBeGreaterThan(200);
  });

  it('ping sends pings, whose answers are counted', async () => {
    await open('model=gpt-realtime!ping=10');
    await expect.poll(() => received().socket!.pongs).toBeGreaterThan(2);
  });
});

it('a simulator that closes takes its sockets along', async () => {
  const second = await startSimulator();
  const client = await openRealtime(second.url);
  await second.close();
  expect((await client.closed).code).toBe(1006);
});

it('five hundred sessions run at once', async () => {
  const clients = await Promise.all(Array.from({ length: 500 }, () => converse('Hi [chunks=2]')));
  const done = await Promise.all(clients.map((client) => client.until('response.done')));
  expect(new Set(done.map(({ response }) => response.id)).size).toBe(500);
});
