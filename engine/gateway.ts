/** A running gateway: ports opened, configuration compiled, server listening, files watched. */
import './runtime.ts';
import { join, resolve } from 'node:path';
import type { Lent } from './chain/lent.ts';
import { Runner } from './chain/runner.ts';
import type { Snapshot } from './chain/snapshot.ts';
import { type Configuration, type Environment, removeActive, writeActive } from './config/index.ts';
import { compileConfiguration, requireConfiguration } from './configuration-error.ts';
import type { Log } from './contract/values.ts';
import { createCounters } from './counters/index.ts';
import { createOwnRoutes } from './http/own-routes.ts';
import { type Server, startServer } from './http/server.ts';
import { openUploads } from './http/upload-spool.ts';
import { type OpenLedger, openLedger } from './ledger/index.ts';
import { makeFolder } from './make-folder.ts';
import { openObjects } from './objects/index.ts';
import { Metrics } from './observe/metrics.ts';
import { logRequest } from './observe/request-log.ts';
import { createDocumentText } from './openapi/index.ts';
import type { Registry } from './plugin.ts';
import { Reloads } from './reloads.ts';
import { openVideoTasks } from './tasks/index.ts';
import { fetchUrl } from './upstream/fetch.ts';
import { HealthBook } from './upstream/health.ts';
import { Pools } from './upstream/pools.ts';
import { longestTimer } from './wire/deadline.ts';

export interface GatewayOptions {
  /** Folder of the four YAML files. */
  readonly folder: string;
  readonly builtIns: Registry;
  readonly log: Log;
  /** Over what gateway.yaml says. */
  readonly dataDirectory?: string;
  readonly port?: number;
  readonly environment?: Environment;
  /** ms between two comments in an image stream that waits for its vendor; default 10 s (proxies cut silent streams). */
  readonly heartbeat?: number;
  /** Called after a new configuration has taken over. */
  readonly onReload?: (configuration: Configuration) => void;
  /** What `folder` holds, where it was loaded already. */
  readonly configuration?: Configuration;
}

export interface RunningGateway {
  /** `http://host:port` */
  readonly url: string;
  readonly ledger: OpenLedger;
  readonly snapshot: Snapshot;
  readonly configuration: Configuration;
  /** Absolute. */
  readonly dataDirectory: string;
  /** Reads the files now; answers what changed, or throws ConfigurationError and keeps the old configuration. */
  reload(): Promise<readonly string[]>;
  /** Takes no new requests, lets running ones end within the drain timeout, settles and closes everything. */
  close(): Promise<void>;
}

const load = ({ folder, builtIns, environment }: GatewayOptions): Promise<Configuration> =>
  requireConfiguration(folder, builtIns, environment);

export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const { log } = options;
  const configuration = options.configuration ?? (await load(options));
  for (const notice of configuration.notices) log.warn({}, notice);
  const settings = configuration.gateway;
  const dataDirectory = resolve(options.dataDirectory ?? settings.dataDirectory);
  await makeFolder(dataDirectory);
  const ledger = await openLedger({ folder: dataDirectory, log, sync: settings.ledger.journal.sync });
  ledger.responses.configure(settings.responses);
  try {
    return await serve(options, configuration, dataDirectory, ledger);
  } catch (error) {
    await ledger.close();
    throw error;
  }
}

async function serve(
  options: GatewayOptions,
  first: Configuration,
  dataDirectory: string,
  ledger: OpenLedger,
): Promise<RunningGateway> {
  const { log } = options;
  const settings = first.gateway;
  const host = settings.listen.host;
  let server: Server | null = null;
  const url = () => `http://${host.includes(':') ? `[${host}]` : host}:${server?.port ?? 0}`;
  const { objects, files } = await openObjects(settings.objects, {
    folder: dataDirectory,
    publicUrl: settings.publicUrl ?? url,
    log,
  });
  await objects.check();
  const pools = new Pools();
  const metrics = new Metrics();
  const lent: Lent = {
    pools,
    health: new HealthBook(),
    log,
    host: {
      ledger,
      objects,
      log,
      replays: ledger.replays,
      counters: createCounters(),
      fetch: (target, limits) => fetchUrl(target, pools, limits),
      now: Date.now,
    },
  };
  // Only `gateway check` reads it: a full disk must not stop a reload.
  const keepActive = (configuration: Configuration): Promise<void> =>
    writeActive(dataDirectory, options.folder, configuration).catch((error: unknown) =>
      log.warn({ err: error }, 'the active configuration could not be written to the data directory'),
    );
  const reloads = new Reloads(
    first,
    {
      load: () => load(options),
      compile: (next) => compileConfiguration(next, lent),
      use: (next, snapshot) => {
        ledger.responses.configure(next.gateway.responses);
        runner.swap(snapshot, next.registry);
        tasks.channels.use(next.channels, next.registry);
        options.onReload?.(next);
        return keepActive(next);
      },
    },
    log,
  );
  const documentText = createDocumentText(settings.publicUrl);
  const other = createOwnRoutes({
    readiness: () => reloads.readiness(!runner.stopping),
    metrics: settings.metrics.enabled
      ? {
          path: settings.metrics.path,
          token: settings.metrics.token ?? null,
          render: () => metrics.render({ gateway_requests_running: runner.running }),
        }
      : null,
    description: () => documentText(reloads.configuration),
    files,
    log,
  });
  const tasks = await openVideoTasks({
    ledger,
    objects,
    pools,
    health: lent.health,
    dataDirectory,
    settings: () => reloads.configuration.gateway.videos,
    urlLifetime: settings.objects.urlLifetime,
    log,
  });
  tasks.channels.use(first.channels, first.registry);
  const runner = new Runner(await compileConfiguration(first, lent), first.registry, {
    receiveTimeout: () => reloads.configuration.gateway.body.receiveTimeout,
    heartbeat: options.heartbeat ?? 10_000,
    realtime: () => reloads.configuration.gateway.realtime,
    responses: ledger.responses,
    uploads: await openUploads(join(dataDirectory, 'uploads')),
    tasks,
    other,
    observer: {
      ended(exchange, outcome) {
        metrics.record(exchange, outcome);
        if (reloads.configuration.gateway.log.requests) logRequest(log, exchange, outcome);
      },
      charged: (exchange, usage) => metrics.recordUsage(exchange, usage),
    },
    log,
  });

  const watching = reloads.watch();

  server = await startServer({
    host,
    port: options.port ?? settings.listen.port,
    maximumHeaderBytes: settings.headers.maximumBytes,
    handle: (response, head, method, path, query, upgrade) =>
      runner.handle(response, head, method, path, query, upgrade),
  }).catch(async (error: unknown) => {
    await watching.close();
    throw error;
  });
  const listening = server;
  tasks.start();
  await keepActive(first);
  const close = async (): Promise<void> => {
    runner.stop();
    listening.stopListening();
    await watching.close();
    const drained = runner.drained();
    await withinTime(drained, reloads.configuration.gateway.drain.timeout);
    runner.endSessions();
    if (runner.running > 0) await withinTime(drained, sessionTimeout);
    // Closing the sockets aborts what still runs: it is settled as aborted.
    listening.close();
    await withinTime(drained, abortTimeout);
    // Files on their way are fetched again after the restart.
    await tasks.close(abortTimeout);
    // What outlives its client (`onAbort: finish`) ends with its vendor's connection.
    await pools.close();
    await withinTime(drained, abortTimeout);
    await removeActive(dataDirectory);
    await ledger.close();
    await objects.close();
  };
  let closing: Promise<void> | null = null;
  return {
    url: url(),
    ledger,
    get snapshot() {
      return runner.snapshot;
    },
    get configuration() {
      return reloads.configuration;
    },
    dataDirectory,
    reload: () => reloads.reload(),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** ms for sessions that end to be settled and closed. */
const sessionTimeout = 250;

/** ms for what was cut to be settled. */
const abortTimeout = 2_000;

async function withinTime(promise: Promise<void>, timeout: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    promise,
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.min(timeout, longestTimer));
    }),
  ]);
  clearTimeout(timer);
}
