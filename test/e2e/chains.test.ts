import { afterEach, describe, expect, it } from 'vitest';
import { type Documents, type Stack, startStack } from '../kit/stack.ts';

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.close();
  stack = undefined;
});

const refused = (edit: (documents: Documents) => void) =>
  startStack({ edit }).then(
    async (started) => {
      await started.close();
      return 'it started';
    },
    (error: Error) => error.message,
  );

describe('B chains that could serve no request are refused at load', () => {
  it('one without a stage that tells who asks', async () => {
    const message = await refused(({ routes }) => {
      routes.chains.catalog = [];
    });
    expect(message).toMatch(/routes\.yaml:\d+:\d+ .*(needs a stage that tells who asks|catalog)/);
  });

  it('one for images without a stage that delivers them', async () => {
    const message = await refused(({ routes }) => {
      routes.chains.images = ['auth', 'normalize', 'conflicts', 'billing'];
    });
    expect(message).toMatch(
      /routes\.yaml:\d+:\d+ routes\[\d+\]\.chain: the chain images needs a stage that delivers images/,
    );
  });

  it('8 one without billing is allowed and told', async () => {
    stack = await startStack({
      edit: ({ routes }) => {
        routes.chains.chat = ['auth', 'normalize'];
      },
    });
    expect(stack.gateway.configuration.notices).toContain(
      'the chain chat has no billing: its requests are free and leave no usage row',
    );
  });
});

describe('8 what does not cover a request', () => {
  it('the balance, or the quota of the key', async () => {
    stack = await startStack();
    const ask = async (key: string) => {
      const reply = await stack!.post(
        '/images/generations',
        { model: 'alpha-image-1k', prompt: 'a fox' },
        { authorization: `Bearer ${key}` },
      );
      return ((await reply.json()) as { error: { code: string; message: string } }).error;
    };
    const error = await ask(await stack.createKey({ quota: 5 }));
    expect(error).toMatchObject({ code: 'insufficient_quota', message: expect.stringContaining('quota of this key') });
  });
});
