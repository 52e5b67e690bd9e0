/** Stop sequences applied to the events of an answer, as a vendor that knows them would. */
import type { ChatEvent } from '../../contract/chat.ts';
import { StopMatcher, type StopSequences } from '../../wire/stop-sequences.ts';

/**
 * Each choice ends where its text meets a sequence: it finishes there, and what the vendor says further is withheld,
 * while its usage still passes. Anything but text between two texts parts them.
 */
export function stopRule(sequences: StopSequences): (event: ChatEvent) => readonly ChatEvent[] {
  const matchers = new Map<number, StopMatcher>();
  const stopped = new Set<number>();
  return (event) => {
    if (!('choice' in event)) return [event];
    const { choice } = event;
    if (stopped.has(choice)) return [];
    const matcher = matchers.get(choice) ?? new StopMatcher(sequences);
    matchers.set(choice, matcher);
    if (event.type !== 'text') return [...said(choice, matcher.rest()), event];
    const { text, met } = matcher.push(event.text);
    if (met === null) return said(choice, text);
    stopped.add(choice);
    return [...said(choice, text), { type: 'finish', choice, reason: 'stop', stopSequence: met }];
  };
}

const said = (choice: number, text: string): ChatEvent[] => (text === '' ? [] : [{ type: 'text', choice, text }]);
