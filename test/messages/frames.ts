/** Streams that test vendors write themselves. */
const event = (type: string, members: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

/** A stream of messages with thoughts, text, two calls (one without input), cached tokens and an event nobody knows. */
export const messagesStream = [
  event('message_start', {
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 20, cache_creation_input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 1 },
    },
  }),
  event('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
  event('ping'),
  event('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'Grüße an 東京.' } }),
  event('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'EqQB' } }),
  event('content_block_stop', { index: 0 }),
  event('content_block_start', { index: 1, content_block: { type: 'redacted_thinking', data: 'c2VhbGVk' } }),
  event('content_block_stop', { index: 1 }),
  event('content_block_start', { index: 2, content_block: { type: 'text', text: '' } }),
  event('content_block_delta', { index: 2, delta: { type: 'text_delta', text: 'One "moment" 🙂' } }),
  event('content_block_delta', { index: 2, delta: { type: 'citations_delta', citation: {} } }),
  event('content_block_stop', { index: 2 }),
  event('content_block_start', {
    index: 3,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
  }),
  event('content_block_delta', { index: 3, delta: { type: 'input_json_delta', partial_json: '' } }),
  event('content_block_delta', { index: 3, delta: { type: 'input_json_delta', partial_json: '{"id":' } }),
  event('content_block_delta', { index: 3, delta: { type: 'input_json_delta', partial_json: '"42"}' } }),
  event('content_block_stop', { index: 3 }),
  event('future_event', { anything: 1 }),
  event('content_block_start', {
    index: 4,
    content_block: { type: 'server_tool_use', id: 's', name: 'web', input: {} },
  }),
  event('content_block_stop', { index: 4 }),
  event('content_block_start', { index: 5, content_block: { type: 'tool_use', id: 'toolu_2', name: 'go', input: {} } }),
  event('content_block_stop', { index: 5 }),
  event('message_delta', {
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 31, output_tokens_details: { thinking_tokens: 9 } },
  }),
  event('message_stop'),
].join('');

export const messagesUsage = { input: 125, cachedInput: 100, cacheWrite: 5, output: 31, reasoning: 9 };

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'gpt-x',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

const call = (index: number, id: string | null, name: string | null, text: string): object => ({
  tool_calls: [
    {
      index,
      ...(id === null ? {} : { id, type: 'function' }),
      function: { ...(name === null ? {} : { name }), arguments: text },
    },
  ],
});

/** A stream of chat completions whose two calls come in turns, with text and reasoning before them. */
export const chatStream = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning_content: 'Grüße an 東京.' }),
  chunk({ content: 'One "moment" 🙂' }),
  chunk(call(0, 'call_1', 'look', '')),
  chunk(call(0, null, null, '{"id":')),
  chunk(call(1, 'call_2', 'go', '{"fast"')),
  chunk(call(0, null, null, '"42"}')),
  chunk(call(1, null, null, ':true}')),
  chunk({}, 'tool_calls'),
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'gpt-x',
    choices: [],
    usage: {
      prompt_tokens: 125,
      completion_tokens: 31,
      total_tokens: 156,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 9 },
    },
  })}\n\n`,
  'data: [DONE]\n\n',
].join('');

export const chatStreamWithRefusal = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ refusal: 'I cannot ' }),
  chunk({ refusal: 'do that.' }),
  chunk({}, 'stop'),
  'data: [DONE]\n\n',
].join('');
