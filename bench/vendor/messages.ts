/** A canned stream of the messages protocol. */
import type { Script } from './stream.ts';

const frame = (type: string, rest: string) => `event: ${type}\ndata: {"type":"${type}",${rest}}\n\n`;
const word = (text: string) => frame('content_block_delta', `"index":0,"delta":{"type":"text_delta","text":"${text}"}`);
const plainWord = word('a few words ');

export const messagesScript: Script = {
  first:
    frame(
      'message_start',
      '"message":{"id":"msg_bench","type":"message","role":"assistant","model":"claude-sonnet-5-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"output_tokens":1}}',
    ) + frame('content_block_start', '"index":0,"content_block":{"type":"text","text":""}'),
  word: (stamped) => (stamped ? word(String(process.hrtime.bigint())) : plainWord),
  last:
    frame('content_block_stop', '"index":0') +
    frame('message_delta', '"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":100}') +
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
};
