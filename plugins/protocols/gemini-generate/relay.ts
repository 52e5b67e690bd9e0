/** Same protocol on both sides: the body passes as it came, since the model stands in the path (but see foreign-thoughts.ts). */
import {
  type ChatCall,
  type ChatRelay,
  isObject,
  type JsonObject,
  type JsonValue,
  overridden,
  type ParameterOverrides,
  readGoogleError,
} from '../../../engine/plugin.ts';
import { estimateIn, hasAnswer, imagesIn, usageIn } from './answer-facts.ts';
import { answerIn } from './decode-answer.ts';
import { asArray, camelCase, snakeCase } from './fields.ts';
import { ownContents } from './foreign-thoughts.ts';
import { createFrames } from './frames.ts';
import { ArrayTap, createTap } from './tap.ts';

export const relay: ChatRelay = {
  request(body, call, vendorModel, overrides) {
    const contents = ownContents(call.body.contents, vendorModel);
    const set = { ...namedAnew(call, vendorModel), ...(contents === null ? {} : { contents }) };
    const own = Object.keys(set).length === 0 ? body : overridden(body, { set, remove: [] });
    return overridden(own, overrides === null ? null : inBothSpellings(overrides));
  },
  reply(body) {
    const value = JSON.parse(body.toString('utf8')) as JsonValue;
    const error = readGoogleError(value);
    if (error !== null) return { usage: null, error, estimatedOutput: 0 };
    const answer = answerIn(value);
    if (!hasAnswer(answer)) throw new Error('the answer has no candidates');
    const usage = usageIn(answer);
    return { usage, error: null, estimatedOutput: usage === null ? estimateIn(answer) : 0, images: imagesIn(answer) };
  },
  stream: (call) => (asArray(call) ? new ArrayTap(createTap(), createFrames(call)) : createTap()),
};

/** The vendor reads both spellings of a name: what a channel says of one holds for the other. */
function inBothSpellings({ set, remove }: ParameterOverrides): ParameterOverrides {
  const names = [...remove, ...Object.keys(set)].flatMap((name) => [name, camelCase(name), snakeCase(name)]);
  return { set, remove: names.filter((name) => !Object.hasOwn(set, name)) };
}

/** Requests may name the model a second time, and a count of tokens a third: it is the public name there too. */
function namedAnew({ body }: ChatCall, vendorModel: string): JsonObject {
  const model = `models/${vendorModel}`;
  const members: JsonObject = body.model === undefined ? {} : { model };
  for (const name of ['generateContentRequest', 'generate_content_request']) {
    const request = body[name];
    if (isObject(request)) members[name] = { ...request, model };
  }
  return members;
}
