/** Which configuration serves, how a newer one takes over, and what `/readyz` tells of one that did not. */
import type { Snapshot } from './chain/snapshot.ts';
import { type Configuration, diffConfigurations, formatFault, watchConfiguration } from './config/index.ts';
import { ConfigurationError } from './configuration-error.ts';
import type { Log } from './contract/values.ts';

export interface ReloadSteps {
  /** Reads and validates the files; throws ConfigurationError. */
  load(): Promise<Configuration>;
  /** Compiles it aside; throws ConfigurationError. */
  compile(next: Configuration): Promise<Snapshot>;
  /** Lets it serve; `configuration` is the new one already. Never rejects. */
  use(next: Configuration, snapshot: Snapshot): Promise<void>;
}

export class Reloads {
  configuration: Configuration;
  readonly #steps: ReloadSteps;
  readonly #log: Log;
  #faults: readonly string[] = [];
  /** What was read last, well or not. */
  #files: readonly string[];
  #loadedAt = new Date();
  /** One reload at a time, in order: the last save wins. */
  #running: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(first: Configuration, steps: ReloadSteps, log: Log) {
    this.configuration = first;
    this.#files = first.files;
    this.#steps = steps;
    this.#log = log;
  }

  /** Answers what changed, or throws ConfigurationError and keeps the old configuration; so does a gateway that stops. */
  reload(): Promise<readonly string[]> {
    if (this.#stopped) return Promise.reject(new Error('The gateway is stopping.'));
    const run = this.#running
      .then(() => this.#swap())
      .catch((error: unknown) => {
        this.#failed(error);
        throw error;
      });
    this.#running = run.catch(() => {});
    return run;
  }

  /** Reloads when a file changes. From `close` on nothing is; it resolves when the reload that runs has ended. */
  watch(): { close(): Promise<void> } {
    const files = () => this.#files;
    const watching = watchConfiguration(this.#files, () => this.reload().then(files, files), this.#log);
    return {
      close: async () => {
        this.#stopped = true;
        await watching.close();
        await this.#running;
      },
    };
  }

  /** The body of `/readyz`. */
  readiness(ready: boolean): { readonly ready: boolean; readonly body: object } {
    const configuration = {
      loadedAt: this.#loadedAt.toISOString(),
      current: this.#faults.length === 0,
      faults: this.#faults,
    };
    return { ready, body: { ready, configuration, notices: this.configuration.notices } };
  }

  async #swap(): Promise<readonly string[]> {
    const next = await this.#steps.load();
    const changes = diffConfigurations(this.configuration, next);
    const snapshot = await this.#steps.compile(next);
    this.configuration = next;
    this.#files = next.files;
    this.#faults = [];
    this.#loadedAt = new Date();
    await this.#steps.use(next, snapshot);
    for (const notice of next.notices) this.#log.warn({}, notice);
    const sentence = changes.length === 0 ? 'configuration reloaded, nothing changed' : 'configuration reloaded';
    this.#log.info({ changes }, sentence);
    return changes;
  }

  #failed(error: unknown): void {
    if (error instanceof ConfigurationError) this.#files = error.files;
    this.#faults =
      error instanceof ConfigurationError
        ? error.faults.map(formatFault)
        : [error instanceof Error ? error.message : String(error)];
    this.#log.error({ faults: this.#faults }, 'the configuration was not reloaded: the old one goes on');
  }
}
