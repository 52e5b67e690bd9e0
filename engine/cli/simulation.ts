import { Refusal } from './failure.ts';
import type { Parts, Simulation } from './parts.ts';

/** Starts the simulator; throws Refusal where the port is taken. */
export async function startSimulationAt(port: number, parts: Parts): Promise<Simulation> {
  try {
    return await parts.startSimulation(port);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    throw new Refusal(
      `Cannot listen on 127.0.0.1:${port}: the port is taken or not allowed. Choose another with --port.`,
    );
  }
}
