/** What stands in no other section, and what cannot be shown since no client, vendor or database takes part. */
import type { LiveExchange } from '../../chain/exchange.ts';
import type { Protocol } from '../../plugin.ts';

function conversationNotes({ call }: LiveExchange, protocol: Protocol): string[] {
  if (protocol.kind !== 'chat' || call?.kind !== 'chat') return [];
  const asked = protocol.state?.read(call.body);
  const goesOn = asked !== undefined && (asked.previous !== null || asked.references.length > 0);
  return goesOn
    ? [
        'Earlier answers are not looked up: what the gateway keeps of them is laid before the input, and what a vendor account keeps binds the request to that account.',
      ]
    : [];
}

export function notesOf(exchange: LiveExchange, protocol: Protocol): string[] {
  const { call, route } = exchange;
  const notes = conversationNotes(exchange, protocol);
  if (route.operation === 'chat.count') {
    notes.push('Counting is free. Where no channel counts, the gateway estimates.');
  }
  if (call?.kind === 'video')
    notes.push('Asking how far the task is, and fetching its file, are requests of their own.');
  if (call?.kind === 'realtime')
    notes.push('The events of the session pass unchanged. Each answer of it is charged by itself.');
  if (call?.kind === 'direct' && call.form !== null) notes.push('The file is a sample of 16000 bytes.');
  return notes;
}
