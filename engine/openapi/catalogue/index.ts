/** Which entry of the catalogue describes a route. */
import type { Route } from '../../contract/model.ts';
import { form, json, type RouteEntry } from '../entry.ts';
import { chatEntries } from './chat.ts';
import { directEntries } from './direct.ts';
import { geminiEntries } from './gemini.ts';
import { imageEntries } from './images.ts';
import { messagesEntries } from './messages.ts';
import { modelEntries } from './models.ts';
import { realtimeEntries } from './realtime.ts';
import { responsesEntries } from './responses.ts';
import { videoEntries } from './videos.ts';

const catalogue: readonly RouteEntry[] = [
  ...chatEntries,
  ...responsesEntries,
  ...messagesEntries,
  ...geminiEntries,
  ...imageEntries,
  ...videoEntries,
  ...directEntries,
  ...realtimeEntries,
  ...modelEntries,
];

/** A protocol that an operator has added: nothing is known of its bodies. */
function genericEntry({ operation, protocol, method }: Route): RouteEntry {
  return {
    operation,
    protocols: [protocol],
    id: operation.replace(/\W(\w)/g, (_, letter: string) => letter.toUpperCase()),
    tag: 'Other',
    summary: operation,
    description: 'In the form of a protocol that the operator of this gateway has added.',
    ...(method === 'POST' ? { request: { ...json('GenericBody'), ...form('GenericBody') } } : {}),
    replies: { '*/*': 'GenericBody' },
    errors: 'GenericError',
  };
}

export function entryOf(route: Route): RouteEntry {
  const fitting = catalogue.filter(
    ({ operation, protocols }) => operation === route.operation && protocols.includes(route.protocol),
  );
  const special = fitting.find(({ ending }) => ending !== undefined && route.path.endsWith(ending));
  return special ?? fitting.find(({ ending }) => ending === undefined) ?? genericEntry(route);
}
