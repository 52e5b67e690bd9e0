/** The `gateway` command: one file per subcommand. Exit codes: 0 well, 1 the thing asked about is not well, 2 usage. */
import { Command, CommanderError } from 'commander';
import { packageVersion } from '../config/package-root.ts';
import { NotWell } from './failure.ts';
import type { Parts } from './parts.ts';

type AddCommand = (program: Command, parts: Parts) => void;

/** In the order of `gateway --help`. Each is loaded when it is asked for: most commands need a small part of the gateway. */
const commands: ReadonlyMap<string, () => Promise<AddCommand>> = new Map([
  ['serve', async () => (await import('./serve.ts')).addServe],
  ['demo', async () => (await import('./demo.ts')).addDemo],
  ['check', async () => (await import('./check.ts')).addCheck],
  ['routes', async () => (await import('./routes.ts')).addRoutes],
  ['explain', async () => (await import('./explain.ts')).addExplain],
  ['users', async () => (await import('./users.ts')).addUsers],
  ['keys', async () => (await import('./keys.ts')).addKeys],
  ['usage', async () => (await import('./usage.ts')).addUsage],
  ['audit', async () => (await import('./audit.ts')).addAudit],
  ['simulate', async () => (await import('./simulate.ts')).addSimulate],
]);

/** The command that the first word names; for anything else all of them, since help names them. */
function namedBy([first = '']: readonly string[]): (() => Promise<AddCommand>)[] {
  if (['-V', '--version'].includes(first)) return [];
  const named = commands.get(first);
  return named === undefined ? [...commands.values()] : [named];
}

async function createProgram(words: readonly string[], parts: Parts): Promise<Command> {
  const program = new Command('gateway')
    .description('One set of HTTP interfaces over models of several vendors, configured by four YAML files.')
    .version(packageVersion())
    .exitOverride()
    .showHelpAfterError('(see --help)')
    .addHelpText('after', '\nExamples:\n  $ gateway demo\n  $ gateway check --config /etc/gateway')
    .addHelpText('after', '\nExit codes: 0 well, 1 the thing asked about is not well, 2 wrong usage.');
  for (const load of namedBy(words)) (await load())(program, parts);
  return program;
}

/** Runs one command to its end; answers the exit code. Never throws. */
export async function runCommandLine(words: readonly string[], parts: Parts): Promise<number> {
  try {
    const program = await createProgram(words, parts);
    await program.parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already said what is wrong; help and version end with its code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof NotWell) return 1;
    const { describeFailure } = await import('./describe-failure.ts');
    process.stderr.write(`${describeFailure(error)}\n`);
    return 1;
  }
}
