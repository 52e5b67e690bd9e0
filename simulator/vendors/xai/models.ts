import { jsonAnswer } from '../../answers.ts';
import type { Answer } from '../../contract.ts';
import { VIDEO_MODELS } from './videos-models.ts';

export interface ModelFacts {
  readonly mime: 'jpeg' | 'png';
  readonly qualities: readonly string[];
  /** Price of an image in ticks; 10,000,000,000 ticks are 1 USD. */
  readonly ticks: number;
}

const QUALITIES = ['low', 'medium', 'auto'];

export const MODELS: Record<string, ModelFacts> = {
  'grok-imagine-image': { mime: 'jpeg', qualities: QUALITIES, ticks: 200_000_000 },
  'grok-imagine-image-quality': { mime: 'png', qualities: QUALITIES, ticks: 700_000_000 },
  'grok-imagine-image-2.0': { mime: 'jpeg', qualities: QUALITIES, ticks: 400_000_000 },
};

export function answerModels(): Answer {
  const data = [...Object.keys(MODELS), ...Object.keys(VIDEO_MODELS)].map((id) => ({
    id,
    object: 'model',
    created: 1772400000,
    owned_by: 'xai',
  }));
  return jsonAnswer(200, { object: 'list', data });
}
