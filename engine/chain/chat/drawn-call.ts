/** Models that draw, on chat routes: for clients that know no other. */
import type { ChatCall, ChatProtocol } from '../../contract/chat.ts';
import type { ImageCall } from '../../contract/image.ts';
import type { Offer } from '../../contract/model.ts';
import { isCapable, type Operation } from '../../contract/operations.ts';
import { GatewayError } from '../../errors.ts';
import type { CompiledRoute } from '../compiled-route.ts';

const drawing: readonly Operation[] = ['images.generate', 'images.edit'];
const none: readonly Operation[] = [];

/** What a chat route serves besides chat. */
export const drawnOn = ({ images }: ChatProtocol, { onImages }: CompiledRoute): readonly Operation[] =>
  images !== undefined && onImages !== null ? drawing : none;

/** What a model that does not chat is asked to draw; null for one that does. Throws GatewayError. */
export function drawnCall({ images }: ChatProtocol, call: ChatCall, { model }: Offer): ImageCall | null {
  if (isCapable(model.operations, 'chat')) return null;
  const drawn = images!.readCall(call, isCapable(model.operations, 'images.edit'));
  if (isCapable(model.operations, `images.${drawn.operation}`)) return drawn;
  throw new GatewayError('unsupported_parameter', 'This model draws, but takes no reference images.');
}
