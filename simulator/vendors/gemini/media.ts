import type { Call } from '../../contract.ts';
import { decodeBase64, measureImage } from '../../images/measure.ts';
import type { Content, Part } from './contents.ts';
import { refuse } from './errors.ts';

export type Modality = 'TEXT' | 'IMAGE' | 'AUDIO' | 'VIDEO' | 'DOCUMENT';

/** Image formats the simulator cannot look into. */
const OPAQUE = ['image/heic', 'image/heif'];
const IMAGES = ['image/png', 'image/jpeg', 'image/webp', ...OPAQUE];
const AUDIO = /^audio\/(wav|x-wav|mp3|mpeg|mpga|aiff|aac|ogg|opus|flac|m4a|mp4|pcm|l16|webm)\b/i;
const VIDEO = /^video\/(mp4|mpeg|mov|quicktime|avi|x-flv|mpg|webm|wmv|3gpp)$/;
const TEXT = /^(text\/[\w.+-]+|application\/(json|xml|x-javascript|x-python|rtf))$/;
const FILE_URI = /^(https?|gs):\/\/\S+$/;

/** What a part without text counts as; undefined for calls, their results, and media types that are not taken. */
function modalityOf({ inlineData, fileData }: Part): Modality | undefined {
  const type = inlineData?.mimeType ?? fileData?.mimeType ?? (fileData ? 'image/png' : undefined);
  if (type === undefined) return undefined;
  if (IMAGES.includes(type)) return 'IMAGE';
  if (type === 'application/pdf') return 'DOCUMENT';
  if (AUDIO.test(type)) return 'AUDIO';
  if (VIDEO.test(type)) return 'VIDEO';
  return TEXT.test(type) ? 'TEXT' : undefined;
}

/** How many media parts of each modality there are. */
export function countMedia(contents: readonly Content[]): Partial<Record<Modality, number>> {
  const counts: Partial<Record<Modality, number>> = {};
  for (const part of contents.flatMap(({ parts = [] }) => parts)) {
    const modality = modalityOf(part);
    if (modality) counts[modality] = (counts[modality] ?? 0) + 1;
  }
  return counts;
}

/** Refuses media of a wrong type, images and PDFs whose bytes are none, and addresses that are none. */
export function checkMedia(part: Part, call: Call): void {
  const { inlineData, fileData } = part;
  if (fileData && !FILE_URI.test(fileData.fileUri ?? ''))
    refuse(400, { message: `Invalid or unsupported file uri: ${fileData.fileUri ?? ''}` }, call);
  if (!inlineData && !fileData) return;
  const modality = modalityOf(part);
  if (!modality) refuse(400, { message: `Unsupported MIME type: ${inlineData?.mimeType ?? fileData?.mimeType}` }, call);
  if (!inlineData) return;
  const bytes = decodeBase64(inlineData.data!)!;
  const isOpaque = OPAQUE.includes(inlineData.mimeType!);
  if (modality === 'IMAGE' && !isOpaque && !measureImage(bytes))
    refuse(400, { message: 'Unable to process input image. Please retry or report.' }, call);
  if (modality === 'DOCUMENT' && bytes.toString('latin1', 0, 4) !== '%PDF')
    refuse(400, { message: 'The document has no pages.' }, call);
}
