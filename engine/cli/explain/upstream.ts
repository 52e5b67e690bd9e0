/** The exact request that a vendor would get, with every secret masked. */
import { countRequest } from '../../chain/chat/count-request.ts';
import { directRequest } from '../../chain/direct/request.ts';
import type { LiveExchange } from '../../chain/exchange.ts';
import { handshake } from '../../chain/realtime/request.ts';
import type { Target } from '../../chain/target.ts';
import { chatRequest, imageRequest } from '../../chain/upstream-request.ts';
import { videoRequest } from '../../chain/video/request.ts';
import type { Configuration } from '../../config/index.ts';
import type { ChatCall, ChatProtocol } from '../../contract/chat.ts';
import type { JsonValue } from '../../contract/values.ts';
import { partsFor } from '../../http/upload-form.ts';
import type { Protocol } from '../../plugin.ts';
import type { UpstreamRequest } from '../../upstream/pools.ts';
import { readForm } from './form-parts.ts';

export interface ExplainedRequest {
  readonly channel: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON as the vendor gets it, or the parts of a form; long Base64 is cut. */
  readonly body: JsonValue;
}

const longestShown = 200;
/** Of a long secret the beginning tells what kind it is, the end which one. */
const maskable = 24;

const mask = (secret: string): string =>
  secret.length < maskable ? '***' : `${/^[a-z]{2,4}-/i.exec(secret)?.[0] ?? ''}…${secret.slice(-4)}`;

function createMasking(secrets: readonly string[]): (text: string) => string {
  const sorted = [...new Set(secrets)].sort((left, right) => right.length - left.length);
  return (text) => sorted.reduce((result, secret) => result.replaceAll(secret, () => mask(secret)), text);
}

/** Values that came from the environment or a file; short ones would only garble the text. */
const outsideSecrets = ({ sources }: Configuration): string[] =>
  sources.channels.secrets.filter((secret) => secret.length >= 8);

function shorten(value: JsonValue, masked: (text: string) => string): JsonValue {
  if (typeof value === 'string')
    return value.length > longestShown && /^[\w+/=:;,-]+$/.test(value)
      ? `${value.slice(0, 40)}… (${value.length} characters)`
      : masked(value);
  if (Array.isArray(value)) return value.map((item) => shorten(item, masked));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shorten(item, masked)]));
}

function readShown({ body, headers }: Shown): JsonValue {
  if (body === null) return null;
  // A form's parts are shown instead.
  if ('read' in body) return null;
  const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(body);
  const contentType = headers[headers.lastIndexOf('content-type') + 1] ?? '';
  if (contentType.startsWith('multipart/')) return readForm(bytes, contentType);
  return JSON.parse(bytes.toString('utf8')) as JsonValue;
}

function headersOf({ headers }: Shown, masked: (text: string) => string): Record<string, string> {
  const shown: Record<string, string> = {};
  for (let index = 0; index + 1 < headers.length; index += 2) shown[headers[index]!] = masked(headers[index + 1]!);
  return shown;
}

/** Headers that an operator laid over the vendor's may carry secrets written into the file itself. */
const secretName = /key|token|secret|auth|cookie|password/i;

function secretHeaders({ channel }: Target): string[] {
  return Object.entries(channel.headers)
    .filter(([name, value]) => secretName.test(name) && value !== '')
    .map(([, value]) => value);
}

/** What of an upstream request can be shown. */
type Shown = Pick<UpstreamRequest, 'method' | 'headers' | 'body'> & { readonly url: string };

function requestOf(exchange: LiveExchange, client: Protocol, target: Target): Shown {
  if (target.realtime !== null)
    return { method: 'GET', body: null, ...handshake(exchange, target.realtime, target, 0) };
  const request = bodiedRequest(exchange, client, target);
  return { ...request, url: `${target.channel.origin}${request.path}` };
}

function bodiedRequest(exchange: LiveExchange, client: Protocol, target: Target): UpstreamRequest {
  const call = exchange.call!;
  if (target.count !== null) return countRequest(exchange, call as ChatCall, client as ChatProtocol, target, 0);
  if (call.kind === 'image') return imageRequest(call, target, 0);
  if (call.kind === 'direct') return directRequest(exchange, call, target, 0);
  if (call.kind === 'video') return videoRequest(call.request, target, 0);
  return chatRequest(exchange, call as ChatCall, target, 0);
}

/** The parts of a form whose file is read only while it is sent; null for anything else. */
function uploadShown({ call }: LiveExchange, { vendorModel, overrides }: Target): JsonValue | null {
  if (call?.kind !== 'direct' || call.form === null) return null;
  return partsFor(call.form, vendorModel, overrides).map((part) => {
    const { name: field } = part;
    if (part.kind === 'field') return { field, value: part.value };
    return { field, file: part.fileName, type: part.mediaType, bytes: part.length };
  });
}

export function explainRequest(
  exchange: LiveExchange,
  client: Protocol,
  target: Target,
  configuration: Configuration,
): ExplainedRequest {
  const request = requestOf(exchange, client, target);
  const { channel } = target;
  const own = [...channel.credentials, ...secretHeaders(target)];
  const masked = createMasking([...own, ...outsideSecrets(configuration)]);
  return {
    channel: channel.name,
    method: request.method,
    url: createMasking(own)(request.url),
    headers: headersOf(request, masked),
    body: shorten(uploadShown(exchange, target) ?? readShown(request), masked),
  };
}
