#!/usr/bin/env node
/** The composition root: the only place where the engine meets the plugins and the simulator, once a command needs them. */
import { runCommandLine } from './cli/command-line.ts';

// `gateway usage | head` closes the pipe early: that is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const code = await runCommandLine(process.argv.slice(2), {
  builtIns: async () => (await import('../plugins/index.ts')).builtIns,
  async startSimulation(port) {
    const { simulatorSummary, startSimulator } = await import('../simulator/index.ts');
    const simulator = await startSimulator({ port });
    return { url: simulator.url, ...simulatorSummary(simulator), close: () => simulator.close() };
  },
});
process.exit(code);
