/** Events of a realtime session fit the document, and the example of docs/api.md runs. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { blocksOf, readDocument, root } from '../docs/blocks.ts';
import { type Stack, startStack } from '../kit/stack.ts';
import { createSchemas, type Document, type Schemas } from './validator.ts';

let stack: Stack;
let schemas: Schemas;

beforeAll(async () => {
  stack = await startStack();
  schemas = createSchemas(await (await fetch(`${stack.gateway.url}/openapi.json`)).json());
});
afterAll(() => stack.close());

const content = [{ type: 'input_text', text: 'Hello' }];
const sent: readonly object[] = [
  { type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } },
  { type: 'conversation.item.create', item: { type: 'message', role: 'user', content } },
  { type: 'conversation.item.delete', item_id: 'none' },
  { type: 'response.create' },
];

test('4.1 GET (WebSocket upgrade) /v1/realtime: events of both sides fit the document', async () => {
  const socket = new WebSocket(`${stack.base.replace('http', 'ws')}/realtime?model=demo-realtime`, {
    headers: { authorization: `Bearer ${stack.key}` },
  });
  const got: Document[] = [];
  await new Promise<void>((done, fail) => {
    socket.on('error', fail);
    socket.on('close', () => done());
    socket.on('open', () => {
      for (const event of sent) socket.send(JSON.stringify(event));
    });
    socket.on('message', (frame) => {
      got.push(JSON.parse(String(frame)));
      if (got.at(-1).type === 'response.done') socket.close(1000);
    });
  });
  const types = got.map(({ type }) => type);
  for (const type of ['session.created', 'session.updated', 'error', 'response.created', 'response.output_text.delta'])
    expect(types).toContain(type);
  expect(sent.flatMap((event) => schemas.faultsOf('RealtimeClientEvent', event))).toEqual([]);
  expect(got.flatMap((event) => schemas.faultsOf('RealtimeServerEvent', event))).toEqual([]);
  expect(schemas.faultsOf('RealtimeServerEvent', { type: 'response.done' })).not.toEqual([]);
});

test('the socket of docs/api.md gets an answer', async () => {
  const [block] = blocksOf(readDocument('docs/api.md')).filter(({ language }) => language === 'js');
  const address = stack.gateway.url.replace('http', 'ws');
  const text = block!.text
    .replace('ws://127.0.0.1:8080', address)
    .replace("'ws'", `'${join(root, 'node_modules/ws/wrapper.mjs')}'`);
  const file = join(stack.folder, 'socket.mjs');
  await writeFile(file, text);
  const child = spawn(process.execPath, [file], { env: { ...process.env, KEY: stack.key } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece) => (output += piece));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  expect([code, output]).toEqual([0, expect.stringContaining('Hello')]);
});
