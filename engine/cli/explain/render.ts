/** The explanation for people. */
import { type Column, renderTable } from '../table.ts';
import type { Explanation } from './answer.ts';
import type { ExplainedChannel } from './channels.ts';
import type { Normalized } from './parameters.ts';
import type { ExplainedPrice } from './price.ts';
import type { ExplainedRequest } from './upstream.ts';

const indent = (text: string): string => text.replace(/^(?=.)/gm, '  ');
const section = (title: string, lines: readonly string[]): string => `${title}\n${indent(lines.join('\n'))}`;

const channelColumns: readonly Column<ExplainedChannel>[] = [
  { title: 'TIER', right: true, cell: (row) => row.order },
  { title: 'CHANNEL', cell: (row) => row.channel },
  { title: 'PRIORITY', right: true, cell: (row) => row.priority },
  { title: 'WEIGHT', right: true, cell: (row) => row.weight },
  { title: 'VENDOR MODEL', cell: (row) => row.vendorModel },
  { title: 'PROTOCOL', cell: (row) => row.protocol },
  { title: 'WHY', cell: (row) => row.reason },
];

/** Channels that do not name the model are only counted up. */
function channelLines(channels: readonly ExplainedChannel[], model: string): string[] {
  const naming = channels.filter(({ vendorModel }) => vendorModel !== null);
  const others = channels.filter(({ vendorModel }) => vendorModel === null).map(({ channel }) => channel);
  return [
    ...(naming.length === 0 ? [] : [renderTable(channelColumns, naming)]),
    ...(others.length === 0 ? [] : [`without ${model}: ${others.join(', ')}`]),
  ];
}

function chainLines({ route, chain }: Explanation): string[] {
  const stages = chain.stages.map(({ plugin, hooks }) => `${plugin} (${hooks.join(' ')})`);
  return [`${route.method} ${route.path} (${route.operation}, ${route.protocol}), chain ${chain.name}`, ...stages];
}

const toldLines = (settings: object): string[] =>
  Object.entries(settings).map(([name, value]) => `${name}: ${value ?? 'left to the vendor'}`);

const boundLine = (bound: Readonly<Record<string, number>>): string => {
  const counts = Object.entries(bound).map(([kind, count]) => `${kind} ${count}`);
  return `expected to use: ${counts.join(', ') || 'nothing that is counted'}`;
};

function parameterLines(parameters: Normalized): string[] {
  if (parameters.kind === 'chat') {
    const { stream, maxOutputTokens, choices } = parameters;
    return [`stream: ${stream}`, `output tokens at most: ${maxOutputTokens ?? 'not said'}`, `answers: ${choices}`];
  }
  if (parameters.kind === 'image') {
    const { settings, claims, responseFormat, stream, references } = parameters;
    const said = claims.map(({ param, setting, value }) => `${param} asks for ${setting} ${value}`);
    const rest = [`response_format: ${responseFormat}`, `stream: ${stream}`, `reference images: ${references}`];
    return [...toldLines(settings), ...rest, ...said];
  }
  if (parameters.kind === 'video') {
    const { settings, references, bound } = parameters;
    return [...toldLines(settings), `reference images: ${references}`, boundLine(bound)];
  }
  return [`stream: ${parameters.stream}`, boundLine(parameters.bound)];
}

function requestLines(request: ExplainedRequest): string[] {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const body = request.body === null ? [] : ['', JSON.stringify(request.body, null, 2)];
  return [`${request.method} ${request.url}`, ...headers, ...body];
}

function priceLines({ kinds, multiplier, hold }: ExplainedPrice): string[] {
  const lines = kinds.map(
    ({ kind, per, listUsd, usd, units }) =>
      `${kind}: ${listUsd} USD × ${multiplier} = ${usd} USD per ${per} (${units} units)`,
  );
  const held =
    hold === null ? 'nothing is held' : `held before the first attempt: ${hold.usd} USD (${hold.units} units)`;
  return [...lines, held];
}

export function refusalLine({ status, code, message, hint }: NonNullable<Explanation['refusal']>): string {
  return `${status} ${code}: ${message}${hint === null ? '' : ` (did you mean "${hint}"?)`}`;
}

export function renderExplanation(explanation: Explanation): string {
  const { model, family, group, parameters, channels, request, price, notes } = explanation;
  const sections = [
    section('Model', [`${model}, family ${family ?? 'unknown'}, group ${group ?? 'unknown'}`]),
    section('Chain', chainLines(explanation)),
    parameters === null ? null : section('Parameters', parameterLines(parameters)),
    channels.length === 0 ? null : section('Channels', channelLines(channels, model)),
    request === null ? null : section(`Request to ${request.channel}`, requestLines(request)),
    price === null ? null : section('Price', priceLines(price)),
    notes.length === 0 ? null : section('Notes', notes),
  ];
  return sections.filter((text) => text !== null).join('\n\n');
}
