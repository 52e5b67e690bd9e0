/** Realtime sessions that answer every `response.create` with sound: `[chunks=…]` events, one every `[delay=…]` ms. */
import type uWS from 'uWebSockets.js';
import { asked } from './stream.ts';
import { tick } from './wheel.ts';

const created =
  '{"type":"session.created","event_id":"event_1","session":{"type":"realtime","object":"realtime.session","id":"sess_bench","model":"gpt-realtime"}}';
const begun =
  '{"type":"response.created","event_id":"event_2","response":{"id":"resp_bench","object":"realtime.response","status":"in_progress","output":[]}}';
/** A tenth of a second of sound. */
const sound = `{"type":"response.output_audio.delta","event_id":"event_3","response_id":"resp_bench","item_id":"item_bench","output_index":0,"content_index":0,"delta":"${Buffer.alloc(4800, 0x5a).toString('base64')}"}`;
const done =
  '{"type":"response.done","event_id":"event_4","response":{"id":"resp_bench","object":"realtime.response","status":"completed","output":[],"usage":{"total_tokens":112,"input_tokens":12,"output_tokens":100,"input_token_details":{"text_tokens":12,"audio_tokens":0,"image_tokens":0,"cached_tokens":0},"output_token_details":{"text_tokens":20,"audio_tokens":80}}}}';

interface Session {
  open: boolean;
}

export function serveRealtime(app: uWS.TemplatedApp): void {
  app.ws<Session>('/v1/realtime', {
    maxPayloadLength: 1024 * 1024,
    idleTimeout: 0,
    upgrade(response, request, context) {
      const header = (name: string) => request.getHeader(name);
      response.upgrade(
        { open: true },
        header('sec-websocket-key'),
        header('sec-websocket-protocol'),
        header('sec-websocket-extensions'),
        context,
      );
    },
    open: (socket) => void socket.send(created),
    message(socket, message) {
      const body = Buffer.from(message).toString('latin1');
      if (!body.includes('"response.create"')) return;
      const session = socket.getUserData();
      let left = asked(body, 'chunks', 20);
      socket.send(begun);
      const next = (): boolean => {
        if (!session.open) return false;
        socket.send(left > 0 ? sound : done);
        return left-- > 0;
      };
      tick({ next }, asked(body, 'delay', 100));
    },
    close(socket) {
      socket.getUserData().open = false;
    },
  });
}
