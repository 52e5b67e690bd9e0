import {
  type ChatProtocol,
  defineProtocol,
  openAiError,
  optionalBoolean,
  unsupported,
} from '../../../engine/plugin.ts';
import { compactName, decodeReply, encodeReply, encodeStream } from './compact-reply.ts';
import { decodeCompaction } from './compact-request.ts';
import { decodeStream } from './decode-stream.ts';
import { decodeError } from './errors.ts';
import { readInput } from './read-call.ts';
import { relay } from './relay.ts';
import { state } from './state.ts';

/** `/responses/compact`: a vendor that has it makes its own item; any other sums the conversation up. */
export default defineProtocol<ChatProtocol>({
  kind: 'chat',
  name: compactName,
  summary: 'OpenAI compaction of a conversation.',
  readCall: (body) => ({ ...readInput(body), stream: optionalBoolean(body, 'stream') }),
  relay,
  decodeRequest: decodeCompaction,
  encodeRequest() {
    throw unsupported('model', 'is served by a vendor that only compacts conversations.');
  },
  decodeReply,
  decodeStream,
  encodeReply,
  encodeStream,
  encodeError: openAiError,
  state: { ...state, read: (body) => ({ ...state.read(body), store: false }) },
  decodeError,
});
