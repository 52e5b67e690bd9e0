import { nextId } from '../../answers.ts';
import { composeReply, countTokens, piecesOf, type ReplyText } from '../../reply-text.ts';
import { sampleValue } from '../../sample.ts';
import { logprobOf } from './chat-answer.ts';
import { produceImage } from './responses-image.ts';
import type { Outcome, Produced, Question } from './responses-outcome.ts';
import { encrypt } from './responses-state.ts';
import { chosenTool, type Tool } from './responses-tools.ts';
import { toolRounds } from './responses-turns.ts';

const ARGUMENT_PIECE = 8;
const SUMMARY = '**Weighing the question** – Grüße abwägen 🙂';
const REFUSAL = 'I’m sorry, but I can’t help with that – tut mir leid.';

/** Reasoning where there is any, then tool calls, a picture with a word, a refusal or text. */
export function produce(question: Question): Outcome {
  const { call, request, steering } = question;
  const reasoning = produceReasoning(question);
  const budget = (request.max_output_tokens ?? Number.POSITIVE_INFINITY) - steering.reasoning;
  const finish = (rest: readonly Produced[], tokens: number, more: Partial<Outcome> = {}): Outcome => ({
    produced: [...reasoning, ...rest],
    incomplete: undefined,
    images: [],
    outputTokens: steering.reasoning + tokens,
    ...more,
  });
  if (call.fault.refuse === 'noimage') return finish([], 0);
  if (call.fault.refuse === 'safety') return finish([refusalMessage(steering.chunks)], countTokens(REFUSAL));
  if (budget <= 0) return finish([], 0, { incomplete: 'max_output_tokens' });
  const tool = toolRounds(question.conversation) < steering.rounds ? toolOf(question) : undefined;
  if (tool && tool.type !== 'image_generation') {
    const count = request.parallel_tool_calls === false ? 1 : steering.calls;
    const calls = Array.from({ length: count }, () => produceCall(tool));
    return finish(
      calls,
      calls.reduce((sum, { item, pieces }) => sum + countTokens(item.name + pieces.join('')), 0),
    );
  }
  const filtered = call.fault.refuse === 'some';
  const reply = replyTo(question, budget);
  const cut = filtered ? piecesOf(reply.text.slice(0, reply.text.length >> 1), steering.chunks) : reply;
  const incomplete = filtered ? 'content_filter' : reply.truncated ? 'max_output_tokens' : undefined;
  const message = textMessage(cut, incomplete === undefined ? 'completed' : 'incomplete', question);
  if (!tool) return finish([message], cut.tokens, { incomplete });
  const { produced, images } = produceImage(tool, question);
  return finish([...produced, message], cut.tokens, { incomplete, images });
}

const toolOf = ({ request, steering }: Question): Tool | undefined =>
  steering.calls === 0 ? undefined : chosenTool(request.tool_choice, request.tools ?? []);

/** A reasoning item, where the model reasons and the request or its steering shows any interest in it. */
function produceReasoning({ call, request, model, steering }: Question): Produced[] {
  const { effort, summary, generate_summary: older } = request.reasoning ?? {};
  const encrypted = request.include?.includes('reasoning.encrypted_content') === true;
  const wanted = steering.reasoning > 0 || encrypted || [effort, summary, older].some((value) => value !== undefined);
  if (!model.reasoning || effort === 'none' || !wanted) return [];
  const id = nextId('rs_');
  const pieces = (summary ?? older) === undefined ? [] : piecesOf(SUMMARY, Math.min(steering.chunks, 4)).pieces;
  const item = {
    id,
    type: 'reasoning',
    summary: pieces.length > 0 ? [{ type: 'summary_text', text: SUMMARY }] : [],
    ...(encrypted ? { encrypted_content: encrypt(call, 'reasoning', id) } : {}),
  };
  return [{ item, pieces }];
}

function produceCall(tool: Tool): Produced {
  const call = { status: 'completed', call_id: nextId('call_'), name: tool.name! };
  if (tool.type === 'custom') {
    const input = 'Grüße 🙂';
    return { item: { id: nextId('ctc_'), type: 'custom_tool_call', ...call, input }, pieces: cutUp(input) };
  }
  const text = JSON.stringify(sampleValue(tool.parameters ?? { type: 'object' }));
  return { item: { id: nextId('fc_'), type: 'function_call', ...call, arguments: text }, pieces: cutUp(text) };
}

function cutUp(text: string): readonly string[] {
  const count = Math.ceil(Array.from(text).length / ARGUMENT_PIECE);
  return piecesOf(text, count).pieces;
}

function replyTo({ request, prompt, steering }: Question, limit: number): ReplyText {
  const format = request.text?.format;
  if (format?.type === 'json_object') return piecesOf(JSON.stringify({ answer: 'Zürich 🙂' }), steering.chunks);
  if (format?.type === 'json_schema') return piecesOf(JSON.stringify(sampleValue(format.schema)), steering.chunks);
  return composeReply(prompt, steering, limit);
}

function textMessage({ text, pieces }: ReplyText, status: string, { request }: Question): Produced {
  const shown = request.include?.includes('message.output_text.logprobs') || request.top_logprobs !== undefined;
  const logprobs = shown ? pieces.map(logprobOf) : [];
  return messageOf({ type: 'output_text', text, annotations: [], logprobs }, status, pieces);
}

const refusalMessage = (chunks: number): Produced =>
  messageOf({ type: 'refusal', refusal: REFUSAL }, 'completed', piecesOf(REFUSAL, chunks).pieces);

function messageOf(part: object, status: string, pieces: readonly string[]): Produced {
  const item = { id: nextId('msg_'), type: 'message', status, role: 'assistant', content: [part] };
  return { item, pieces };
}
