import { imageSlot, jsonParts } from '../../answers.ts';
import type { Call } from '../../contract.ts';
import { decodeBase64, measureImage, nearestRatio } from '../../images/measure.ts';
import { readSteering } from '../../steering.ts';
import { type GenerateRequest, inputImages, lastUserText, type Part } from './contents.ts';
import { refuse, refuseField } from './errors.ts';
import { signatureOf } from './functions.ts';
import { pixelsOf } from './image-sizes.ts';
import type { ImageFacts } from './models.ts';
import type { AnswerPart, Production } from './production.ts';

const MOST_INPUT_IMAGES = 14;
const THOUGHT_TOKENS = 350;
const SIGNATURE = signatureOf('image');
const INPUT_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'];

/** An image model answers with an interim image, marked as a thought and half as large, and then the final one. */
export function imageFragments(request: GenerateRequest, facts: ImageFacts, model: string, call: Call): Production {
  const { generationConfig: config, contents } = request;
  refuseUnfit(request, model, call);
  const inputs = inputImages(contents);
  refuseInputs(inputs, call);
  const size = config.imageConfig?.imageSize ?? '1K';
  const ratio = config.imageConfig?.aspectRatio ?? inputRatio(inputs, facts) ?? '1:1';
  if (!facts.ratios.includes(ratio)) refuseSetting('aspect_ratio', ratio, facts.ratios, call);
  if (!facts.sizes.includes(size)) refuseSetting('image_size', size, facts.sizes, call);
  const prompt = lastUserText(contents);
  const steering = readSteering(prompt);
  const [width, height] = pixelsOf(ratio, size);
  const draw = (scale: number, seed: string, bytes?: number) =>
    call.pictures.draw({
      format: facts.mime,
      width: width * scale,
      height: height * scale,
      seed: prompt + seed,
      bytes,
    });
  const pictures = [draw(0.5, ' interim'), draw(1, '', steering.bytes)];
  const images = pictures.map(({ base64 }) => base64);
  const inlineData = (index: number) => ({ mimeType: pictures[index]!.mime, data: imageSlot(index) });
  const speaks = config.responseModalities?.includes('TEXT') ?? true;
  const text: AnswerPart[][] = speaks ? [[{ text: 'Here is your image – bitte schön 🙂' }]] : [];
  return {
    fragments: [
      [{ thought: true, inlineData: inlineData(0) }],
      ...text,
      [{ inlineData: inlineData(1), thoughtSignature: SIGNATURE }],
    ],
    images,
    render: (value) => jsonParts(value, images).map(String).join(''),
    finish: 'STOP',
    tokens: facts.tokens[size]!,
    thoughts: THOUGHT_TOKENS,
    cached: 0,
    modality: 'IMAGE',
    candidates: 1,
    delay: steering.delay,
  };
}

function refuseUnfit({ generationConfig: config, tools = [] }: GenerateRequest, model: string, call: Call): void {
  const modalities = config.responseModalities;
  if (modalities && (modalities.includes('AUDIO') || !modalities.includes('IMAGE')))
    refuse(
      400,
      {
        message: `The requested combination of response modalities (${modalities.join(', ')}) is not supported by the model. models/${model}`,
      },
      call,
    );
  if ((config.candidateCount ?? 1) !== 1)
    refuse(400, { message: 'Multiple candidates is not enabled for this model' }, call);
  if (tools.some(({ functionDeclarations }) => functionDeclarations))
    refuse(400, { message: `Function calling is not enabled for models/${model}` }, call);
}

function refuseSetting(name: string, value: string, allowed: readonly string[], call: Call): never {
  const path = `generation_config.image_config.${name}`;
  return refuseField(
    path,
    `* GenerateContentRequest.${path}: Invalid value "${value}". Allowed values are: ${allowed.join(', ')}.`,
    call,
  );
}

function refuseInputs(inputs: readonly Part[], call: Call): void {
  if (inputs.length > MOST_INPUT_IMAGES)
    refuse(400, { message: `Please use at most ${MOST_INPUT_IMAGES} input images, got ${inputs.length}.` }, call);
  for (const { inlineData } of inputs) {
    if (!inlineData) continue;
    if (!INPUT_TYPES.includes(inlineData.mimeType!))
      refuse(400, { message: `Unsupported MIME type: ${inlineData.mimeType}` }, call);
    const isHeic = inlineData.mimeType!.startsWith('image/hei');
    if (!isHeic && !measureImage(decodeBase64(inlineData.data!)!))
      refuse(400, { message: 'Unable to process input image. Please retry or report.' }, call);
  }
}

/** Without an asked ratio the answer takes that of the first input image. */
function inputRatio(inputs: readonly Part[], facts: ImageFacts): string | undefined {
  const data = inputs[0]?.inlineData?.data;
  const measured = data === undefined ? undefined : measureImage(decodeBase64(data)!);
  if (!measured?.width || !measured.height) return undefined;
  return nearestRatio(measured.width, measured.height, facts.ratios);
}
