/** Function calls and their responses. Older models give calls no ids: a response then answers the next call of its name. */
import {
  type ChatPart,
  GatewayError,
  isObject,
  type JsonObject,
  type JsonValue,
  stringAt,
  stringOrNull,
} from '../../../engine/plugin.ts';
import { decodeInline, signatureIn } from './decode-part.ts';
import { listOf, messageAt } from './fields.ts';

interface Call {
  readonly id: string;
  answered: boolean;
}

/** Calls that one id or one name may mean, in their order. */
class Calls {
  private readonly calls: Call[] = [];
  private passed = 0;

  add(call: Call): void {
    this.calls.push(call);
  }

  /** The first that has no answer yet. */
  answer(): Call | null {
    while (this.calls[this.passed]?.answered) this.passed++;
    const call = this.calls[this.passed] ?? null;
    if (call !== null) call.answered = true;
    return call;
  }
}

type ToolCall = Extract<ChatPart, { type: 'tool-call' }>;
type ToolResult = Extract<ChatPart, { type: 'tool-result' }>;

export class CallIds {
  private readonly byId = new Map<string, Calls>();
  private readonly byName = new Map<string, Calls>();
  private count = 0;

  decodeCall(part: JsonObject, place: string): ToolCall {
    const call = messageAt(part.functionCall, `${place}.functionCall`);
    const name = stringAt(call.name, `${place}.functionCall.name`);
    this.count++;
    const id = stringOrNull(call.id, `${place}.functionCall.id`) || `call_${this.count}`;
    const signature = signatureIn(part, place);
    const open = { id, answered: false };
    callsIn(this.byId, id).add(open);
    callsIn(this.byName, name).add(open);
    const text = JSON.stringify(call.args ?? {});
    return { type: 'tool-call', id, name, arguments: text, ...(signature === null ? {} : { signature }) };
  }

  decodeResult(part: JsonObject, place: string): ToolResult {
    const { id, name, response, parts } = messageAt(part.functionResponse, `${place}.functionResponse`);
    const given = stringOrNull(id, `${place}.functionResponse.id`);
    const answered = this.answers(given, stringAt(name, `${place}.functionResponse.name`), place);
    const shown = listOf(parts).map((one, index) => decodeShown(one, `${place}.functionResponse.parts[${index}]`));
    const said = decodeResponse(response ?? {});
    return { type: 'tool-result', id: answered, parts: [said.part, ...shown], error: said.error };
  }

  private answers(id: string | null, name: string, place: string): string {
    const call = (id && this.byId.get(id)?.answer()) || this.byName.get(name)?.answer();
    if (call) return call.id;
    throw new GatewayError('invalid_value', `\`${place}.functionResponse\` answers no call of the turn before.`, {
      param: `${place}.functionResponse`,
    });
  }
}

function callsIn(all: Map<string, Calls>, key: string): Calls {
  const known = all.get(key) ?? new Calls();
  all.set(key, known);
  return known;
}

function decodeShown(value: JsonValue, place: string): ChatPart {
  const { inlineData } = messageAt(value, place);
  return decodeInline(messageAt(inlineData, `${place}.inlineData`), place);
}

/** `result`, `output` and `error` are the names that Google's own tools use for a plain text. */
function decodeResponse(response: JsonValue): { readonly part: ChatPart; readonly error: boolean } {
  const [first, ...rest] = isObject(response) ? Object.entries(response) : [];
  const [name, value] = first ?? [];
  const isPlain = rest.length === 0 && typeof value === 'string';
  const error = rest.length === 0 && name === 'error';
  const plain = isPlain && (name === 'result' || name === 'output' || name === 'error');
  return { part: { type: 'text', text: plain ? value : JSON.stringify(response) }, error };
}
