/** The relay: bytes pass, but for thoughts of another protocol's vendor. */
import { type ChatRelay, openAiRelay, overridden } from '../../../engine/plugin.ts';
import { withoutForeignThoughts } from './foreign-thoughts.ts';
import { outputText } from './output-text.ts';

const plain = openAiRelay(outputText);

export const relay: ChatRelay = {
  ...plain,
  request(body, call, vendorModel, overrides) {
    const messages = withoutForeignThoughts(call.body.messages, vendorModel);
    const own = messages === null ? body : overridden(body, { set: { messages }, remove: [] });
    return plain.request(own, call, vendorModel, overrides);
  },
};
