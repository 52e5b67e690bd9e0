import { imageSlot, nextId } from '../../answers.ts';
import { withoutSteering } from '../../steering.ts';
import type { Outcome, Question } from './responses-outcome.ts';
import type { ImageTool } from './responses-tools.ts';

/** An `image_generation_call` item: its picture in slot 0, the partial ones of a stream in the slots after it. */
export function produceImage(
  tool: ImageTool,
  { call, request, prompt, steering }: Question,
): Pick<Outcome, 'produced' | 'images'> {
  const { size = 'auto', quality = 'auto', background = 'auto', output_format: format = 'png', action = 'auto' } = tool;
  const facts = {
    action: action === 'auto' ? 'generate' : action,
    background: background === 'auto' ? 'opaque' : background,
    output_format: format,
    quality: quality === 'auto' ? 'high' : quality,
    size: size === 'auto' ? '1024x1024' : size,
  };
  const [width, height] = facts.size.split('x').map(Number) as [number, number];
  const draw = (seed: string, bytes?: number): Buffer =>
    call.pictures.draw({ format, width, height, seed: `${prompt} ${seed}`, bytes }).base64;
  const partials = request.stream ? Array.from({ length: tool.partial_images ?? 0 }, (_, index) => index) : [];
  const item = {
    id: nextId('ig_'),
    type: 'image_generation_call',
    status: 'completed',
    ...facts,
    revised_prompt: withoutSteering(prompt),
    result: imageSlot(0),
  };
  return {
    produced: [{ item, pieces: partials.map((index) => imageSlot(index + 1)) }],
    images: [draw('0', steering.bytes), ...partials.map((index) => draw(`partial ${index}`))],
  };
}
