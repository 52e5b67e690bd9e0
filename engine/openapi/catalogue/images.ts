/** Image generation and editing (spec 4.2, 4.3). */
import { form, json, type RouteEntry, streamed } from '../entry.ts';

const protocols = ['openai-images'];
const tag = 'Images';
const errors = 'OpenAiError';
const stream =
  'With `stream: true` each event has a name, which its data repeats as `type`; a completed event stands for each image. Do not wait for `[DONE]`. Read with a timeout of at least 180 seconds.';

export const imageEntries: readonly RouteEntry[] = [
  {
    operation: 'images.generate',
    protocols,
    id: 'createImage',
    tag,
    summary: 'Image generation',
    description: `Draws images. Sizes that contradict each other are refused with 400. Each image is charged; a request without a valid image is not. ${stream}`,
    request: json('ImageRequest'),
    example: { model: '', prompt: 'A red fox in the snow' },
    replies: streamed('ImageReply', 'ImageEvent'),
    errors,
  },
  {
    operation: 'images.edit',
    protocols,
    id: 'editImage',
    tag,
    summary: 'Image editing',
    description: `Changes images. A request that is not a form, or has no file \`image\`, is refused with 400. ${stream}`,
    request: form('ImageEditForm'),
    example: { model: '', prompt: 'Add a red scarf', image: '@photo.png' },
    replies: streamed('ImageReply', 'ImageEvent'),
    errors,
  },
];
