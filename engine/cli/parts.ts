/** What the composition root hands to the commands. */
import type { Registry } from '../plugin.ts';

/** A running vendor simulator. */
export interface Simulation {
  readonly url: string;
  /** Base URLs by vendor name, as a channel's `baseUrl` takes them. */
  readonly vendors: Readonly<Record<string, string>>;
  /** Where faults are set and received requests are read. */
  readonly control: string;
  close(): Promise<void>;
}

export interface Parts {
  builtIns(): Promise<Registry>;
  /** Port 0: any free one. Rejects with the system's error where the port is taken. */
  startSimulation(port: number): Promise<Simulation>;
}
