/** `gateway explain` */
import type { Command } from 'commander';
import type { ChannelsFile } from '../../schemas/types/channels.ts';
import type { CompiledRoute } from '../chain/compiled-route.ts';
import type { Snapshot } from '../chain/snapshot.ts';
import { type Configuration, nearest } from '../config/index.ts';
import { compileConfiguration, requireConfiguration } from '../configuration-error.ts';
import { operationEntry } from '../contract/operations.ts';
import { answer, type Explanation } from './explain/answer.ts';
import { editForm, readBodyFile } from './explain/asked.ts';
import { anyKeyOf, findKey } from './explain/caller.ts';
import { refusalLine, renderExplanation } from './explain/render.ts';
import { sampleBody } from './explain/sample-body.ts';
import { walk } from './explain/walk.ts';
import { NotWell, Refusal } from './failure.ts';
import {
  type ConfigOption,
  type DataOption,
  type JsonOption,
  withConfig,
  withData,
  withExamples,
  withJson,
} from './options.ts';
import type { Parts } from './parts.ts';
import { note, print, printJson } from './print.ts';
import { createStandIn } from './stand-in.ts';

interface ExplainOptions extends ConfigOption, DataOption, JsonOption {
  readonly model: string;
  readonly route?: string;
  readonly key?: string;
  readonly group?: string;
  readonly body?: string;
  readonly edit?: true;
  readonly image?: readonly string[];
  readonly channel?: string;
}

function requireChannel({ sources }: Configuration, name: string): void {
  const known = Object.keys((sources.channels.value as ChannelsFile).channels);
  if (known.includes(name)) return;
  const guess = nearest(name, known);
  throw new Refusal(`There is no channel ${name}.${guess === null ? '' : ` Did you mean "${guess}"?`}`);
}

/** The one that is named, or the first that the model can be used on. */
function pickRoute({ routes, models }: Snapshot, { model, route, edit }: ExplainOptions): CompiledRoute {
  const serving = routes.filter((one) => operationEntry(one.route.operation).capability !== null);
  if (route !== undefined) {
    // As routes.yaml has it, or as a client of this model writes it.
    const found = serving.find((one) => [one.route.path, one.route.path.replace('*', () => model)].includes(route));
    const known = serving.map((one) => one.route.path);
    const guess = nearest(route, known);
    if (found !== undefined) return found;
    throw new Refusal(`There is no route ${route} for a model.${guess === null ? '' : ` Did you mean ${guess}?`}`);
  }
  const operations = edit ? ['images.edit'] : (models.get(model)?.operations ?? []);
  const [first] = serving.filter((one) => operations.includes(one.route.operation));
  const fallback = first ?? serving[0];
  if (fallback === undefined) throw new Refusal('The configuration has no route for a model.');
  return fallback;
}

async function callerOf(options: ExplainOptions, configuration: Configuration, parts: Parts) {
  if (options.key !== undefined) return findKey(options.key, options, parts);
  const known = [...configuration.groups.keys()];
  const group = options.group ?? (known.includes('default') ? 'default' : known[0]!);
  if (known.includes(group)) return anyKeyOf(group);
  const guess = nearest(group, known);
  throw new Refusal(`There is no group ${group}.${guess === null ? '' : ` Did you mean "${guess}"?`}`);
}

async function explainRequest(options: ExplainOptions, parts: Parts): Promise<Explanation> {
  const configuration = await requireConfiguration(options.config, await parts.builtIns());
  if (options.channel !== undefined) requireChannel(configuration, options.channel);
  const standIn = createStandIn(await callerOf(options, configuration, parts));
  const snapshot = await compileConfiguration(configuration, standIn.lent);
  const compiled = pickRoute(snapshot, options);
  const { model, channel } = options;
  const { path, operation, protocol: spoken } = compiled.route;
  const protocol = configuration.registry.protocols.find(({ name }) => name === spoken)!;
  const given = options.body === undefined ? sampleBody(compiled.route) : await readBodyFile(options.body);
  const body = path.includes('*') ? given : Object.assign({ model }, given, { model });
  const form = operation === 'images.edit' ? await editForm(body, options.image ?? []) : null;
  const walked = await walk({ snapshot, compiled, protocol, model, body, form });
  const isUnknown = walked.refusal?.code === 'model_not_found';
  const hint = isUnknown ? nearest(model, configuration.models.keys()) : null;
  const explanation = answer({ model, configuration, walked, protocol, standIn, channel, hint });
  snapshot.retire();
  return explanation;
}

async function explain(options: ExplainOptions, parts: Parts): Promise<void> {
  const explanation = await explainRequest(options, parts);
  const { refusal, channels, route } = explanation;
  if (options.json) printJson(explanation);
  else if (refusal?.code !== 'model_not_found') print(renderExplanation(explanation));
  if (refusal !== null) {
    note(refusalLine(refusal));
    throw new NotWell();
  }
  const isServed = channels.some(({ order }) => order !== null);
  if (!isServed && route.operation === 'chat.count') return;
  if (!isServed) throw new Refusal('No channel would be tried: the client gets 503.');
  if (explanation.request === null) throw new Refusal(`The channel ${options.channel} would not be tried.`);
}

export function addExplain(program: Command, parts: Parts): void {
  const command = program
    .command('explain')
    .description(
      'What would happen to a request: chain, parameters, channels, upstream request, price. Calls no vendor.',
    )
    .requiredOption('-m, --model <name>', 'public model name')
    .option('--route <path>', 'path of the route, in quotes where it has a * (default: the first that fits the model)')
    .option('--edit', 'an image edit')
    .option('--key <key>', 'as this key: its number, its prefix or the key itself')
    .option('--group <name>', 'as a key of this group (default: default)')
    .option('--body <file>', 'JSON body, for a form its fields; - is standard input (default: the smallest that works)')
    .option('--image <file...>', 'reference images of an edit')
    .option('--channel <name>', 'show the request to this channel (default: the likeliest)')
    .action((options: ExplainOptions) => explain(options, parts));
  withExamples(
    withJson(withData(withConfig(command))),
    'gateway explain --model demo-chat',
    'gateway explain --model demo-chat --route /v1/messages',
    "gateway explain --model demo-claude --route '/v1beta/models/*:generateContent'",
    'gateway explain --model beta-3-pro-image --group vip --body request.json',
    'echo \'{"prompt":"a fox","size":"2752x1536"}\' | gateway explain --model beta-3-pro-image --body -',
    'gateway explain --model gamma-imagine-image --edit --image fox.png --json',
  );
}
