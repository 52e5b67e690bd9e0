/** `GET /openapi.json` of a running gateway. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import type { Document } from './validator.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    edit: ({ gateway }) => {
      gateway.publicUrl = 'https://gateway.example.com';
    },
  });
});
afterAll(() => stack.close());

const read = async (): Promise<Document> => (await fetch(`${stack.gateway.url}/openapi.json`)).json();

describe('GET /openapi.json', () => {
  test('needs no key and is JSON', async () => {
    const response = await fetch(`${stack.gateway.url}/openapi.json`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject({
      openapi: '3.1.0',
      servers: [{ url: 'https://gateway.example.com' }],
    });
  });

  test('HEAD tells the same length', async () => {
    const { length } = await (await fetch(`${stack.gateway.url}/openapi.json`)).text();
    const head = await fetch(`${stack.gateway.url}/openapi.json`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThanOrEqual(length);
  });

  test('has the routes of the configuration and no others', async () => {
    const { paths } = await read();
    const methods = Object.values<object>(paths).flatMap((path) => Object.keys(path));
    expect(methods).toHaveLength(stack.gateway.configuration.routes.length);
    expect(Object.keys(paths)).not.toContain('/healthz');
  });

  test('tells no secret, channel, vendor or model', async () => {
    const text = JSON.stringify(await read());
    const { channels, models } = stack.gateway.configuration;
    const told = channels.flatMap(({ name, origin, credentials, models: own }) => [
      name,
      origin,
      ...credentials,
      ...own.values(),
    ]);
    // A model may bear the name of what clients mean who name none.
    const names = [...models.keys()].filter((name) => name !== 'omni-moderation-latest');
    for (const word of [...told, ...names, stack.key, stack.folder])
      expect(word.length > 3 && text.includes(`"${word}`), word).toBe(false);
  });

  test('a reload with other routes changes it', async () => {
    const limit = (document: Document) => document.paths['/v1/chat/completions']?.post.requestBody.description;
    expect(limit(await read())).toContain('32mb');
    await stack.rewrite(({ routes }) => {
      routes.routes = routes.routes.filter(({ path }: { path: string }) => !path.startsWith('/v1/completions'));
      const chat = routes.routes.find(({ path }: { path: string }) => path === '/v1/chat/completions');
      Object.assign(chat, { path: '/own/chat', bodyLimit: '7kb' });
    });
    await stack.gateway.reload();
    const document = await read();
    expect(document.paths['/v1/completions']).toBeUndefined();
    expect(document.paths['/v1/chat/completions']).toBeUndefined();
    expect(document.paths['/own/chat'].post.requestBody.description).toContain('7kb');
    expect(document.components.schemas.CompletionRequest).toBeUndefined();
  });

  test('a reload that fails changes nothing', async () => {
    const before = await read();
    await stack.rewrite(({ routes }) => {
      routes.routes[0].chain = 'nowhere';
    });
    await expect(stack.gateway.reload()).rejects.toThrow();
    expect(await read()).toEqual(before);
  });
});
