/** The closed table of what is stored and served: extension → media type and how a browser may treat it. */
interface MediaType {
  readonly mediaType: string;
  readonly disposition: 'inline' | 'attachment';
}

const inline = (mediaType: string): MediaType => ({ mediaType, disposition: 'inline' });
const attachment = (mediaType: string): MediaType => ({ mediaType, disposition: 'attachment' });

const byExtension: ReadonlyMap<string, MediaType> = new Map([
  ['png', inline('image/png')],
  ['jpg', inline('image/jpeg')],
  ['webp', inline('image/webp')],
  ['gif', inline('image/gif')],
  ['mp4', inline('video/mp4')],
  ['webm', inline('video/webm')],
  ['mov', inline('video/quicktime')],
  // SVG can carry scripts that would run in the origin of the gateway.
  ['svg', attachment('image/svg+xml')],
  ['bin', attachment('application/octet-stream')],
]);

const extensionOf: ReadonlyMap<string, string> = new Map(
  [...byExtension].map(([extension, { mediaType }]) => [mediaType, extension]),
);

/** Every extension a key can have, for the pattern of keys. */
export const extensions: readonly string[] = [...byExtension.keys()];

/** The extension for a content type; parameters and case do not matter, what the table does not know is `bin`. */
export function extensionFor(contentType: string): string {
  const mediaType = contentType.split(';', 1)[0]!.trim().toLowerCase();
  return extensionOf.get(mediaType) ?? 'bin';
}

/** The table's entry for a key that `isKey` has accepted. */
export function mediaTypeOf(key: string): MediaType {
  return byExtension.get(key.slice(key.lastIndexOf('.') + 1)) ?? byExtension.get('bin')!;
}
