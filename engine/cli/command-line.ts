/** The `gateway` command: one file per subcommand. Exit codes: 0 well, 1 the thing asked about is not well, 2 usage. */
import { Command, CommanderError } from 'commander';
import { packageVersion } from '../config/index.ts';
import { addAudit } from './audit.ts';
import { addCheck } from './check.ts';
import { addDemo } from './demo.ts';
import { addExplain } from './explain.ts';
import { describeFailure, NotWell } from './failure.ts';
import { addKeys } from './keys.ts';
import type { Parts } from './parts.ts';
import { addRoutes } from './routes.ts';
import { addServe } from './serve.ts';
import { addSimulate } from './simulate.ts';
import { addUsage } from './usage.ts';
import { addUsers } from './users.ts';

function createProgram(parts: Parts): Command {
  const program = new Command('gateway')
    .description('One set of HTTP interfaces over models of several vendors, configured by four YAML files.')
    .version(packageVersion())
    .exitOverride()
    .showHelpAfterError('(see --help)')
    .addHelpText('after', '\nExamples:\n  $ gateway demo\n  $ gateway check --config /etc/gateway')
    .addHelpText('after', '\nExit codes: 0 well, 1 the thing asked about is not well, 2 wrong usage.');
  const adders = [
    addServe,
    addDemo,
    addCheck,
    addRoutes,
    addExplain,
    addUsers,
    addKeys,
    addUsage,
    addAudit,
    addSimulate,
  ];
  for (const add of adders) add(program, parts);
  return program;
}

/** Runs one command to its end; answers the exit code. Never throws. */
export async function runCommandLine(words: readonly string[], parts: Parts): Promise<number> {
  try {
    await createProgram(parts).parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already said what is wrong; help and version end with its code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof NotWell) return 1;
    process.stderr.write(`${describeFailure(error)}\n`);
    return 1;
  }
}
