import type { Call } from '../../contract.ts';
import { refuse } from './errors.ts';
import { type Item, isCall, isOutput, isUser } from './responses-items.ts';
import type { ResponsesRequest } from './responses-request.ts';
import { decrypt, findItem, findResponse } from './responses-state.ts';

/**
 * The whole conversation a request is about: the stored turns before it and its own items, references resolved.
 * Refuses what does not fit together, as OpenAI does.
 */
export function readConversation(request: ResponsesRequest, call: Call): readonly Item[] {
  const { previous_response_id: previous } = request;
  const stored = previous === undefined ? undefined : findResponse(call, previous);
  if (previous !== undefined && !stored)
    refuse(400, {
      message: `Previous response with id '${previous}' not found.`,
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    });
  const input = request.input.map((item) => (item.type === 'item_reference' ? referenced(item, call) : item));
  for (const [index, item] of input.entries()) {
    refuseForged(item, index, call);
    refuseLoneReasoning(item, input[index + 1]);
  }
  const conversation = [...(stored?.conversation ?? []), ...input];
  refuseMissingReasoning(conversation, call);
  refuseUnpaired(conversation);
  return conversation;
}

function referenced({ id }: Item, call: Call): Item {
  return findItem(call, id)?.item ?? refuseLost(id);
}

function refuseLost(id: unknown): never {
  const advice =
    'Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.';
  return refuse(404, { message: `Item with id '${id}' not found. ${advice}`, param: 'input' });
}

/** Encrypted content must be as it was handed out; reasoning without it must be stored. */
function refuseForged(item: Item, index: number, call: Call): void {
  if (item.type !== 'reasoning' && item.type !== 'compaction') return;
  if (typeof item.encrypted_content !== 'string') {
    if (item.id === undefined)
      refuse(400, {
        message: `Missing required parameter: 'input[${index}].id'.`,
        param: `input[${index}].id`,
        code: 'missing_required_parameter',
      });
    if (!findItem(call, item.id)) refuseLost(item.id);
    return;
  }
  const content = item.encrypted_content;
  const shown = `${content.slice(0, 4)}...${content.slice(-4)}`;
  const text = decrypt(call, item.type, content);
  if (text === undefined)
    refuse(400, {
      message: `The encrypted content ${shown} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      code: 'invalid_encrypted_content',
    });
  if (item.type === 'reasoning' && item.id !== undefined && item.id !== text)
    refuse(400, {
      message: `The encrypted content ${shown} could not be verified. Reason: Encrypted content item_id did not match the target item id.`,
      code: 'invalid_encrypted_content',
    });
}

function refuseLoneReasoning(item: Item, next: Item | undefined): void {
  if (item.type !== 'reasoning') return;
  const follows = next && !isOutput(next) && !(next.type === 'message' && next.role !== 'assistant');
  if (follows) return;
  const name = item.id === undefined ? '' : ` '${item.id}'`;
  refuse(400, {
    message: `Item${name} of type 'reasoning' was provided without its required following item.`,
    param: 'input',
  });
}

/** An item that was stored behind a reasoning item cannot come back without it. */
function refuseMissingReasoning(conversation: readonly Item[], call: Call): void {
  const given = new Set(conversation.filter(({ type }) => type === 'reasoning').map(({ id }) => id));
  for (const { id, type } of conversation) {
    const needed = findItem(call, id)?.reasoning;
    if (needed === undefined || given.has(needed)) continue;
    const message = `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: '${needed}'.`;
    refuse(400, { message, param: 'input' });
  }
}

/** Every output answers a call before it, every call has its output. */
function refuseUnpaired(conversation: readonly Item[]): void {
  const open = new Map<string, Item>();
  const seen = new Set<string>();
  for (const item of conversation) {
    const key = `${item.type.replace(/_output$/, '')} ${item.call_id}`;
    if (isCall(item)) {
      open.set(key, item);
      seen.add(key);
    } else if (isOutput(item)) {
      if (!seen.has(key))
        refuse(400, { message: `No tool call found for ${plain(item)} with call_id ${item.call_id}.`, param: 'input' });
      open.delete(key);
    }
  }
  const [unanswered] = open.values();
  if (unanswered)
    refuse(400, { message: `No tool output found for ${plain(unanswered)} ${unanswered.call_id}.`, param: 'input' });
}

const plain = ({ type }: Item): string => type.replaceAll('_', ' ');

/** How often tools have answered since the last user message. */
export function toolRounds(conversation: readonly Item[]): number {
  const since = conversation.slice(conversation.findLastIndex(isUser) + 1);
  return since.filter((item, index) => isOutput(item) && !(index > 0 && isOutput(since[index - 1]!))).length;
}
