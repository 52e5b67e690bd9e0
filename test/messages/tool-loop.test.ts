/** A coding client reads a file, edits it and runs a command, with tools that really do so. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedVendor, startVendor } from '../e2e/chat-support.ts';
import { type Stack, startStack } from '../kit/stack.ts';
import { type Arrived, chatWire, messagesWire, type Turn, type Wire } from './script.ts';

let folder: string;
let stack: Stack;
const vendors: ScriptedVendor[] = [];
const arrived: Arrived[] = [];
const faults: unknown[] = [];

/** The model's side: what it says after it saw what arrived. */
const turns: readonly ((seen: Arrived) => Turn)[] = [
  (seen) => {
    expect(seen.system).toContain('You are a coding agent.');
    expect(seen.tools).toEqual(['read_file', 'edit_file', 'run_command']);
    return { text: 'Let me look.', calls: [{ name: 'read_file', input: { path: 'sum.mjs' } }] };
  },
  (seen) => {
    expect(seen.results).toEqual(['console.log(40 - 2); // “sum”\n']);
    return {
      calls: [
        { name: 'edit_file', input: { path: 'sum.mjs', find: '40 - 2', replace: '40 + 2' } },
        { name: 'read_file', input: { path: 'nothing.txt' } },
      ],
    };
  },
  (seen) => {
    expect(seen.results[0]).toBe('edited');
    expect(seen.results[1]).toContain('ENOENT');
    expect(seen.called).toEqual(['read_file', 'edit_file', 'read_file']);
    return { text: 'Now it runs.', calls: [{ name: 'run_command', input: { arguments: ['sum.mjs'] } }] };
  },
  (seen) => {
    expect(seen.results).toEqual(['42\n']);
    return { text: 'Done: 40 + 2 is 42.' };
  },
];

async function startModel(wire: Wire): Promise<ScriptedVendor> {
  const vendor = await startVendor((response, body) => {
    const seen = wire.read(JSON.parse(body.toString('utf8')));
    arrived.push(seen);
    const number = arrived.length - 1;
    try {
      wire.write(response, turns[number]!(seen), number);
    } catch (fault) {
      faults.push(fault);
      response.writeHead(500).end('{}');
    }
  });
  vendors.push(vendor);
  return vendor;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coding-'));
  const own = await startModel(messagesWire);
  const chat = await startModel(chatWire);
  stack = await startStack({
    edit({ channels, models }) {
      const account = { credentials: ['sk-1'], groups: ['default'] };
      channels.channels = {
        own: { ...account, baseUrl: own.baseUrl, vendor: 'anthropic', models: { own: 'claude-x' } },
        chat: {
          ...account,
          baseUrl: chat.baseUrl,
          vendor: 'openai',
          protocols: ['openai-chat'],
          models: { chat: 'gpt-x' },
        },
      };
      const priced = { family: 'chat', price: { input: '1', output: '1' } };
      models.models = { own: priced, chat: priced };
    },
  });
});
afterAll(async () => {
  await stack.close();
  for (const vendor of vendors) await vendor.close();
  await rm(folder, { recursive: true, force: true });
});

type Input = Readonly<Record<string, string>> & { readonly arguments?: readonly string[] };

/** Does what a call asks for. */
async function execute(name: string, input: Input): Promise<string> {
  const path = join(folder, input.path ?? '');
  if (name === 'read_file') return readFile(path, 'utf8');
  if (name === 'edit_file') {
    const text = await readFile(path, 'utf8');
    await writeFile(
      path,
      text.replace(input.find!, () => input.replace!),
    );
    return 'edited';
  }
  if (name !== 'run_command') throw new Error(`no tool ${name}`);
  const { stdout } = await promisify(execFile)(process.execPath, [...input.arguments!], { cwd: folder });
  return stdout;
}

const text = { type: 'string' } as const;
const schemas = {
  read_file: { type: 'object', properties: { path: text }, required: ['path'] },
  edit_file: {
    type: 'object',
    properties: { path: text, find: text, replace: text },
    required: ['path', 'find', 'replace'],
  },
  run_command: { type: 'object', properties: { arguments: { type: 'array', items: text } }, required: ['arguments'] },
} as const;
const system = 'You are a coding agent.';
const task = 'Mend sum.mjs so that it prints 42.';

async function codeWithMessages(model: string): Promise<string> {
  const client = new Anthropic({ apiKey: stack.key, baseURL: stack.gateway.url, maxRetries: 0 });
  const tools = Object.entries(schemas).map(([name, schema]): Anthropic.Tool => {
    return { name, input_schema: schema as unknown as Anthropic.Tool.InputSchema };
  });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: task }];
  for (;;) {
    const marked = [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }] as const;
    const asked = { model, max_tokens: 500, system: [...marked], tools, messages };
    const message = await client.messages.stream(asked).finalMessage();
    messages.push({ role: 'assistant', content: message.content });
    if (message.stop_reason !== 'tool_use')
      return message.content.map((one) => ('text' in one ? one.text : '')).join('');
    const content: Anthropic.ToolResultBlockParam[] = [];
    for (const block of message.content) {
      if (block.type !== 'tool_use') continue;
      const result = { type: 'tool_result', tool_use_id: block.id } as const;
      const done = execute(block.name, block.input as Input).then((one) => ({ ...result, content: one }));
      content.push(await done.catch((error: Error) => ({ ...result, content: error.message, is_error: true })));
    }
    messages.push({ role: 'user', content });
  }
}

async function codeWithChat(model: string): Promise<string> {
  const client = new OpenAI({ apiKey: stack.key, baseURL: stack.base, maxRetries: 0 });
  const tools = Object.entries(schemas).map(([name, parameters]): OpenAI.ChatCompletionTool => {
    return { type: 'function', function: { name, parameters: { ...parameters } } };
  });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: system },
    { role: 'user', content: task },
  ];
  for (;;) {
    const { choices } = await client.chat.completions.stream({ model, tools, messages }).finalChatCompletion();
    const { message, finish_reason } = choices[0]!;
    messages.push(message);
    if (finish_reason !== 'tool_calls') return message.content ?? '';
    for (const call of message.tool_calls ?? []) {
      if (call.type !== 'function') continue;
      const done = execute(call.function.name, JSON.parse(call.function.arguments) as Input);
      const content = await done.catch((error: Error) => error.message);
      messages.push({ role: 'tool', tool_call_id: call.id, content });
    }
  }
}

describe.each([
  ['a messages-style client', 'chat completions', 'chat', codeWithMessages],
  ['a messages-style client', 'messages', 'own', codeWithMessages],
  ['an OpenAI-style client', 'messages', 'own', codeWithChat],
  ['an OpenAI-style client', 'chat completions', 'chat', codeWithChat],
])('4.1 %s on a vendor of %s', (_client, _protocol, model, code) => {
  it('runs a whole loop of tools', async () => {
    await writeFile(join(folder, 'sum.mjs'), 'console.log(40 - 2); // “sum”\n');
    arrived.length = 0;
    const answer = await code(model).catch((error: unknown) => error);
    expect(faults).toEqual([]);
    expect(answer).toBe('Done: 40 + 2 is 42.');
    expect(arrived).toHaveLength(turns.length);
    expect(await readFile(join(folder, 'sum.mjs'), 'utf8')).toBe('console.log(40 + 2); // “sum”\n');
    const rows = (await stack.usage()).slice(0, turns.length);
    for (const row of rows) expect(row).toMatchObject({ model, inputTokens: 10, outputTokens: 20, outcome: 'ok' });
  });
});
