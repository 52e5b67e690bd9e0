/** A model played by a test: each turn looks at what arrived and says what the model says. */
import type { ServerResponse } from 'node:http';

/** What the model says in one turn. */
export interface Turn {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: object }[];
}

/** What a request holds, whatever its protocol. */
export interface Arrived {
  readonly system: string;
  readonly tools: readonly string[];
  /** Texts of the results behind the last turn of the assistant's, in their order. */
  readonly results: readonly string[];
  /** Calls of all earlier turns. */
  readonly called: readonly string[];
}

/** One protocol of a scripted vendor. */
export interface Wire {
  read(body: Body): Arrived;
  write(response: ServerResponse, turn: Turn, number: number): void;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of two protocols
type Body = any;

const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });

/** Pieces of 5 characters, as models send arguments. */
const piecesOf = (text: string): string[] => text.match(/[\s\S]{1,5}/g) ?? [];

export const messagesWire: Wire = {
  read(body) {
    const blocks = (role: string) =>
      body.messages.filter((one: Body) => one.role === role).flatMap((one: Body) => [one.content].flat());
    const last = [body.messages.at(-1).content].flat();
    return {
      system: typeof body.system === 'string' ? body.system : body.system.map((one: Body) => one.text).join('\n\n'),
      tools: body.tools.map((one: Body) => one.name),
      results: last
        .filter((one: Body) => one.type === 'tool_result')
        .map((one: Body) =>
          typeof one.content === 'string' ? one.content : one.content.map((part: Body) => part.text).join(''),
        ),
      called: blocks('assistant')
        .filter((one: Body) => one.type === 'tool_use')
        .map((one: Body) => one.name),
    };
  },
  write(response, { text, calls = [] }, number) {
    const send = (type: string, members: object = {}) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`);
    begin(response);
    const usage = { input_tokens: 10, output_tokens: 1 };
    const head = { type: 'message', role: 'assistant', model: 'claude-x', content: [], stop_reason: null, usage };
    send('message_start', { message: { id: `msg_${number}`, ...head } });
    let index = 0;
    const block = (content_block: object, deltas: readonly object[]) => {
      send('content_block_start', { index, content_block });
      for (const delta of deltas) send('content_block_delta', { index, delta });
      send('content_block_stop', { index: index++ });
    };
    if (text !== undefined) block({ type: 'text', text: '' }, [{ type: 'text_delta', text }]);
    for (const [place, { name, input }] of calls.entries()) {
      const deltas = piecesOf(JSON.stringify(input)).map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      }));
      block({ type: 'tool_use', id: `toolu_${number}_${place}`, name, input: {} }, deltas);
    }
    const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
    send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } });
    send('message_stop');
    response.end();
  },
};

export const chatWire: Wire = {
  read(body) {
    const lastAssistant = body.messages.findLastIndex((one: Body) => one.role === 'assistant');
    const textOf = (content: Body) =>
      typeof content === 'string' ? content : content.map((part: Body) => part.text).join('');
    return {
      system: body.messages
        .filter((one: Body) => one.role === 'system')
        .map((one: Body) => textOf(one.content))
        .join('\n\n'),
      tools: body.tools.map((one: Body) => one.function.name),
      results: body.messages
        .slice(lastAssistant + 1)
        .filter((one: Body) => one.role === 'tool')
        .map((one: Body) => textOf(one.content)),
      called: body.messages.flatMap((one: Body) => one.tool_calls ?? []).map((one: Body) => one.function.name),
    };
  },
  write(response, { text, calls = [] }, number) {
    const chunk = (members: object) =>
      response.write(
        `data: ${JSON.stringify({ id: `chatcmpl-${number}`, object: 'chat.completion.chunk', created: 1, model: 'gpt-x', ...members })}\n\n`,
      );
    const say = (delta: object, finish: string | null = null) =>
      chunk({ choices: [{ index: 0, delta, finish_reason: finish }] });
    begin(response);
    say({ role: 'assistant', content: text ?? null });
    for (const [index, { name, input }] of calls.entries()) {
      say({
        tool_calls: [{ index, id: `call_${number}_${index}`, type: 'function', function: { name, arguments: '' } }],
      });
      for (const piece of piecesOf(JSON.stringify(input)))
        say({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
    say({}, calls.length > 0 ? 'tool_calls' : 'stop');
    chunk({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 } });
    response.write('data: [DONE]\n\n');
    response.end();
  },
};
