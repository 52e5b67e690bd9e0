/** What S3 and the way to it answered, as a sentence for the log and for operators. The SDK's error stays the cause. */
import type { S3Settings } from './settings.ts';

interface Fault {
  readonly name: string;
  readonly message: string;
  /** Of Node: ECONNREFUSED, ENOTFOUND, … */
  readonly code: string | null;
  readonly status: number | null;
}

export function explainFault(operation: string, settings: S3Settings, thrown: unknown): Error {
  const fault = readFault(thrown);
  return new Error(`S3 ${operation} failed: ${sentenceFor(settings, fault)}`, { cause: thrown });
}

function readFault(thrown: unknown): Fault {
  const error = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Record<string, unknown>;
  const metadata = error.$metadata as { httpStatusCode?: unknown } | undefined;
  const status = metadata?.httpStatusCode;
  return {
    name: String(error.name ?? 'Error'),
    message: String(error.message ?? thrown),
    code: typeof error.code === 'string' ? error.code : null,
    status: typeof status === 'number' ? status : null,
  };
}

const credentialFaults = new Set([
  'AccessDenied',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidToken',
  'SignatureDoesNotMatch',
]);

const place = ({ endpoint, region }: S3Settings): string =>
  endpoint === undefined ? `AWS S3 (${region ?? 'us-east-1'})` : new URL(endpoint).host;

function sentenceFor(settings: S3Settings, { name, message, code, status }: Fault): string {
  const { bucket } = settings;
  if (status === 301 || name === 'PermanentRedirect') return `the bucket ${bucket} is in another region.`;
  if (name === 'NoSuchBucket' || status === 404) return `the bucket ${bucket} does not exist at ${place(settings)}.`;
  if (credentialFaults.has(name) || status === 401 || status === 403) {
    return `${place(settings)} refused the credentials for the bucket ${bucket} (${name}, ${status}).`;
  }
  if (name === 'CredentialsProviderError') return `no credentials were found: ${message}`;
  if (name === 'TimeoutError') return `${place(settings)} did not answer in time.`;
  if (code !== null) return `${place(settings)} cannot be reached (${code}).`;
  return status === null ? message : `${place(settings)} answered ${status} ${name}: ${message}`;
}
