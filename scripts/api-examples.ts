/** One command for each operation of docs/api.md; together they run from the first to the last against the demo's files. */
import type { Schema } from './schema-table.ts';

export interface Example {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Schema;
}

const models: Readonly<Record<string, string>> = {
  createCompletion: 'demo-instruct',
  createMessage: 'demo-claude',
  countMessageTokens: 'demo-claude',
  generateContent: 'demo-gemini',
  streamGenerateContent: 'demo-gemini',
  countTokens: 'demo-gemini',
  createImage: 'beta-3.1-flash-image',
  editImage: 'beta-3.1-flash-image',
  createVideo: 'demo-video',
  submitVideo: 'demo-video',
  createEmbeddings: 'demo-embedding',
  rerank: 'demo-rerank',
  createModeration: 'omni-moderation-latest',
  createTranscription: 'demo-whisper',
  createTranslation: 'demo-whisper',
  createSpeech: 'demo-tts',
  connectRealtime: 'demo-realtime',
};

const modelOf = (id: string): string => models[id] ?? 'demo-chat';

/** The id that the answer has is kept for the commands that follow. */
const kept: Readonly<Record<string, string>> = {
  createResponse: 'RESPONSE',
  createVideo: 'VIDEO',
  submitVideo: 'TASK',
};

const ids: Readonly<Record<string, string>> = {
  retrieveResponse: '$RESPONSE',
  listResponseItems: '$RESPONSE',
  deleteResponse: '$RESPONSE',
  retrieveVideo: '$VIDEO',
  downloadVideo: '$VIDEO',
  deleteVideo: '$VIDEO',
  retrieveSubmittedVideo: '$TASK',
};

const base = 'http://127.0.0.1:8080';

function keyHeader({ operation }: Example): string {
  const replies = JSON.stringify(operation.responses);
  if (replies.includes('AnthropicError')) return '"x-api-key: $KEY"';
  return replies.includes('GoogleError') ? '"x-goog-api-key: $KEY"' : '"Authorization: Bearer $KEY"';
}

const filled = (value: unknown, model: string): unknown => (value === 'model-name' ? model : value);

function bodyOf({ id, operation }: Example): string[] {
  const content = (operation.requestBody as { content?: Record<string, Schema> } | undefined)?.content ?? {};
  const [first] = Object.entries(content);
  if (first === undefined) return [];
  const [type, { example }] = first;
  const members = Object.entries(example as object).map(([name, value]) => [name, filled(value, modelOf(id))] as const);
  if (type === 'multipart/form-data') return members.map(([name, value]) => `-F '${name}=${value}'`);
  return ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(Object.fromEntries(members))}'`];
}

/** Beyond what the body says. */
const options: Readonly<Record<string, readonly string[]>> = {
  createMessage: ["-H 'anthropic-version: 2023-06-01'"],
  countMessageTokens: ["-H 'anthropic-version: 2023-06-01'"],
  createSpeech: ['--output hello.mp3'],
  downloadVideo: ['--location --output kite.mp4'],
};

const queries: Readonly<Record<string, string>> = { streamGenerateContent: '?alt=sse' };

function urlOf({ id, path }: Example): string {
  const filledPath = path.replace('{model}', modelOf(id)).replace(/\{\w+\}/, ids[id] ?? '');
  return `"${base}${filledPath}${queries[id] ?? ''}"`;
}

/** A video can be downloaded once it is stored. */
const waiting = `until curl -sS "${base}/v1/videos/$VIDEO" -H "Authorization: Bearer $KEY" | grep -q '"status":"ready"'; do sleep 0.2; done\n`;

function command(example: Example): string {
  const { id, method } = example;
  const verb = method === 'get' || method === 'post' ? '' : `-X ${method.toUpperCase()} `;
  const parts = [
    `curl -sS ${verb}${urlOf(example)}`,
    `-H ${keyHeader(example)}`,
    ...(options[id] ?? []),
    ...bodyOf(example),
  ];
  const text = parts.join(' \\\n  ');
  const variable = kept[id];
  if (variable === undefined) return text;
  return `${variable}=$(${text} | node -pe 'JSON.parse(fs.readFileSync(0)).id')`;
}

/** A socket needs more than a command. */
const socket = `import WebSocket from 'ws';

const url = '${base.replace('http', 'ws')}/v1/realtime?model=demo-realtime';
const socket = new WebSocket(url, { headers: { Authorization: \`Bearer \${process.env.KEY}\` } });
const send = (event) => socket.send(JSON.stringify(event));
socket.on('open', () => {
  send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } });
  const content = [{ type: 'input_text', text: 'Hello' }];
  send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  send({ type: 'response.create' });
});
socket.on('message', (frame) => {
  const event = JSON.parse(frame);
  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);
  if (event.type === 'response.done') socket.close(1000);
});
`;

/** A fenced block. */
export function exampleOf(example: Example): string {
  if (example.operation['x-events'] !== undefined) return `\`\`\`js\n${socket}\`\`\``;
  const before = example.id === 'downloadVideo' ? waiting : '';
  return `\`\`\`sh\n${before}${command(example)}\n\`\`\``;
}
