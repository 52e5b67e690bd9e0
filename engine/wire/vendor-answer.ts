/** The JSON of a vendor's image answer: long strings lifted out, and one error for what cannot be used. */
import type { ResultImage } from '../contract/image.ts';
import { GatewayError } from '../errors.ts';
import { isLiftedObject, type LiftedObject, type LiftedValue, liftJson } from './lift.ts';

/** GatewayError `upstream_invalid_response`; `what` ends the sentence. */
export const unusableAnswer = (what: string, cause?: unknown): GatewayError =>
  new GatewayError('upstream_invalid_response', `The vendor answered something that cannot be used: ${what}.`, {
    cause,
  });

/** Throws `unusableAnswer` where the body is no JSON. */
export function liftAnswer(body: Buffer): LiftedValue {
  try {
    return liftJson(body);
  } catch (cause) {
    throw unusableAnswer('no valid JSON', cause);
  }
}

/** Throws `unusableAnswer` where the value is no object. */
export function answerObject(value: LiftedValue | undefined): LiftedObject {
  if (!isLiftedObject(value)) throw unusableAnswer('no JSON object');
  return value;
}

/** Some vendors write a data URL where Base64 alone is asked for. */
export function imageOfBase64(bytes: Buffer, mediaType: string | null, revisedPrompt: string | null): ResultImage {
  const scheme = bytes.toString('latin1', 0, 64);
  const prefix = /^data:([\w.+/-]*);base64,/.exec(scheme);
  const base64 = prefix ? bytes.subarray(prefix[0].length) : bytes;
  return { source: { kind: 'base64', base64 }, mediaType: prefix?.[1] || mediaType, revisedPrompt };
}
