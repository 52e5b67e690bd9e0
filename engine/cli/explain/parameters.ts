/** What the chain made of the client's parameters. */
import type { LiveExchange } from '../../chain/exchange.ts';
import type { Claim, ImageSettings } from '../../contract/image.ts';
import type { Usage } from '../../contract/usage.ts';
import type { VideoRequest } from '../../contract/video.ts';

/** Kinds of units → what the request may use of them; those it cannot use are left out. */
type Bound = Readonly<Record<string, number>>;

export type Normalized =
  | {
      readonly kind: 'image';
      readonly responseFormat: string;
      readonly stream: boolean;
      readonly references: number;
      readonly settings: ImageSettings;
      readonly claims: readonly Claim[];
    }
  | {
      readonly kind: 'chat';
      readonly stream: boolean;
      readonly maxOutputTokens: number | null;
      readonly choices: number;
    }
  | {
      readonly kind: 'video';
      readonly settings: Pick<VideoRequest, 'seconds' | 'size' | 'aspectRatio' | 'resolution'>;
      readonly references: number;
      readonly bound: Bound;
    }
  | { readonly kind: 'direct' | 'realtime'; readonly stream: boolean; readonly bound: Bound };

const boundOf = ({ source: _source, ...counts }: Usage): Bound =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));

export function normalizedOf({ call }: LiveExchange): Normalized | null {
  if (call === null) return null;
  const { stream } = call;
  if (call.kind === 'chat') {
    const { maxOutputTokens, choices } = call;
    return { kind: 'chat', stream, maxOutputTokens, choices };
  }
  if (call.kind === 'image') {
    const { responseFormat, references, settings, claims } = call;
    return { kind: 'image', responseFormat, stream, references: references.length, settings, claims };
  }
  if (call.kind === 'video') {
    const { seconds, size, aspectRatio, resolution, references } = call.request;
    const settings = { seconds, size, aspectRatio, resolution };
    return { kind: 'video', settings, references: references.length, bound: boundOf(call.bound) };
  }
  return { kind: call.kind, stream, bound: boundOf(call.bound) };
}
