import type { Answer, Call } from '../../contract.ts';
import { jsonBody } from './errors.ts';
import { answerImages } from './image-answer.ts';
import { GENERATION_FIELDS, readImageRequest } from './image-request.ts';

/** `POST /v1/images/generations`. */
export function answerGeneration(call: Call): Answer {
  const request = readImageRequest(call, jsonBody(call), GENERATION_FIELDS);
  return answerImages(request, { event: 'image_generation', inputImages: 0 }, call);
}
