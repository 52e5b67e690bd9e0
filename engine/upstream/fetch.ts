/** GETs a URL that a vendor named. The URL is hostile: public addresses only, no redirects into the house, bounded. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { GatewayError } from '../errors.ts';
import { Answer } from './answer.ts';
import { headerValue } from './headers.ts';
import type { Pools } from './pools.ts';

export interface FetchLimits {
  /** `https://host:port` that the operator configured: reachable wherever it is. */
  readonly trustedOrigin: string;
  readonly maximumBytes: number;
  /** ms, over all redirects. */
  readonly timeout: number;
  readonly signal?: AbortSignal;
}

export interface Fetched {
  readonly bytes: Buffer;
  readonly contentType: string;
}

const mostRedirects = 3;

const unusable = (why: string, cause?: unknown) =>
  new GatewayError('upstream_invalid_response', `The vendor’s URL cannot be fetched: ${why}.`, { cause });

/** `0.0.0.0/8`, loopback, private, link-local, carrier-grade NAT, multicast, documentation …: anything but global unicast. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // An IPv4 address in IPv6 clothes is judged as what it is.
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  // Of IPv6 nothing but 2000::/3 was ever given out; what is called unicast besides holds old ways to write IPv4 (::/96).
  return parsed instanceof ipaddr.IPv4 || (parsed.parts[0]! & 0xe000) === 0x2000;
}

/** The checked address to connect to, so that a second DNS answer cannot differ from the first. */
async function publicAddressOf(url: URL): Promise<string> {
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const found = isIP(name)
    ? [{ address: name }]
    : await lookup(name, { all: true }).catch((cause: unknown) =>
        Promise.reject(unusable('its host is unknown', cause)),
      );
  const refused = found.find(({ address }) => !isPublicAddress(address));
  if (refused !== undefined || found.length === 0) throw unusable('its host is not a public address');
  return found[0]!.address;
}

function parse(text: string, base?: URL): URL {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    throw unusable('it is no URL');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw unusable('it is neither http nor https');
  if (url.username !== '' || url.password !== '') throw unusable('it carries credentials');
  return url;
}

/** A resolver has no deadline of its own that one could set. */
async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(unusable('its host was not found in time')), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** How a URL is opened; the body is the caller's to read. */
export interface OpenLimits {
  readonly trustedOrigin: string;
  /** ms until the head of the last answer must be there, over all redirects. */
  readonly timeout: number;
  /** ms between two pieces of the body. */
  readonly idleTimeout: number;
  /** For the trusted origin alone: a credential. No other one ever gets them. */
  readonly trustedHeaders?: readonly string[];
  readonly accept: string;
  readonly signal?: AbortSignal;
}

async function get(url: URL, pools: Pools, limits: OpenLimits, deadline: number): Promise<Answer> {
  const isTrusted = url.origin === limits.trustedOrigin;
  const address = isTrusted ? null : await within(publicAddressOf(url), Math.max(1, deadline - performance.now()));
  const connections =
    address === null
      ? pools.list({ origin: url.origin, connectTimeout: 10_000 })
      : pools.pinned({ origin: url.origin, connectTimeout: 10_000, address });
  limits.signal?.throwIfAborted();
  const answer = Answer.send(connections, {
    method: 'GET',
    path: url.pathname + url.search,
    headers: ['accept', limits.accept, ...(isTrusted ? (limits.trustedHeaders ?? []) : [])],
    body: null,
    firstByteTimeout: Math.max(1, deadline - performance.now()),
    idleTimeout: limits.idleTimeout,
  });
  limits.signal?.addEventListener('abort', () => answer.abort(), { once: true });
  return answer.head;
}

/**
 * The answer 200 of a URL or of where it redirects to. Throws GatewayError `upstream_invalid_response`.
 */
export async function openUrl(text: string, pools: Pools, limits: OpenLimits): Promise<Answer> {
  const deadline = performance.now() + limits.timeout;
  let url = parse(text);
  try {
    for (let redirects = 0; redirects <= mostRedirects; redirects++) {
      const answer = await get(url, pools, limits, deadline);
      const location = answer.status >= 300 && answer.status < 400 ? headerValue(answer.headers, 'location') : '';
      if (location === '' && answer.status === 200) return answer;
      answer.abort();
      if (location === '') throw unusable(`its host answered ${answer.status}`);
      url = parse(location, url);
    }
  } catch (error) {
    throw error instanceof GatewayError ? error : unusable('the transfer failed', error);
  }
  throw unusable('it redirects too often');
}

/** No credential is ever sent. Throws GatewayError `upstream_invalid_response`. */
export async function fetchUrl(text: string, pools: Pools, limits: FetchLimits): Promise<Fetched> {
  const { trustedOrigin, timeout, maximumBytes, signal } = limits;
  const deadline = performance.now() + timeout;
  const answer = await openUrl(text, pools, {
    trustedOrigin,
    timeout,
    idleTimeout: timeout,
    accept: 'image/*',
    ...(signal === undefined ? {} : { signal }),
  });
  const timer = setTimeout(() => answer.abort(), Math.max(1, deadline - performance.now()));
  try {
    return { bytes: await answer.read(maximumBytes), contentType: headerValue(answer.headers, 'content-type') };
  } catch (error) {
    throw unusable('the transfer failed', error);
  } finally {
    clearTimeout(timer);
  }
}
