/** Builds the clients of the AWS SDK. */
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { Log } from '../contract/values.ts';
import type { S3Settings } from './settings.ts';

export const defaultTimeout = 30_000;
const longestConnect = 5_000;
/** The SDK's own 50 would make a burst of images wait for one another. */
const maximumSockets = 256;

/** The client for storing and deleting. */
export function createStoringClient(settings: S3Settings, log: Log): S3Client {
  const timeout = settings.timeout ?? defaultTimeout;
  const agent = { keepAlive: true, maxSockets: maximumSockets };
  return withoutVersionWarning(
    () =>
      new S3Client({
        ...common(settings, settings.endpoint),
        ...checksums(settings.checksums === 'when-supported' ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED'),
        logger: loggerFor(log),
        maxAttempts: 2,
        requestHandler: {
          connectionTimeout: Math.min(longestConnect, timeout),
          requestTimeout: timeout,
          throwOnRequestTimeout: true,
          httpAgent: agent,
          httpsAgent: agent,
        },
      }),
  );
}

/** The client for presigning: never connects, and never signs a checksum into the URL that a plain GET would not send. */
export function createSigningClient(settings: S3Settings): S3Client {
  const endpoint = settings.publicEndpoint ?? settings.endpoint;
  return withoutVersionWarning(() => new S3Client({ ...common(settings, endpoint), ...checksums('WHEN_REQUIRED') }));
}

function common(settings: S3Settings, endpoint: string | undefined): S3ClientConfig {
  const { accessKeyId, secretAccessKey } = settings;
  return {
    region: settings.region ?? 'us-east-1',
    forcePathStyle: settings.forcePathStyle ?? false,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
  };
}

const checksums = (mode: 'WHEN_REQUIRED' | 'WHEN_SUPPORTED') => ({
  requestChecksumCalculation: mode,
  responseChecksumValidation: mode,
});

/** Only warnings: at the other levels the SDK writes down whole requests. */
function loggerFor(log: Log) {
  const ignore = () => {};
  return {
    trace: ignore,
    debug: ignore,
    info: ignore,
    warn: (...content: unknown[]) => log.warn({ from: 'aws-sdk' }, content.map(String).join(' ')),
    error: ignore,
  };
}

/**
 * On Node 20 the SDK's first client prints that versions from 2027 on will need Node 22. The version here is pinned, so
 * that is of no use to an operator. The SDK's own switch is an environment variable; this works without touching it.
 */
function withoutVersionWarning<T>(construct: () => T): T {
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!String(warning).startsWith('NodeVersionSupportWarning')) emitWarning.call(process, warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    return construct();
  } finally {
    process.emitWarning = emitWarning;
  }
}
