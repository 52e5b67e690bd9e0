/** Storage that fails: a `url` request ends with a clear 502 and is not charged, `b64_json` is delivered all the same. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../kit/stack.ts';
import {
  edit,
  eventsOf,
  expectAudit,
  expectError,
  generate,
  jsonOf,
  money,
  namesOf,
  picture,
  stored,
} from './images-kit.ts';

const models = ['alpha-image-1k', 'beta-3-pro-image', 'gamma-imagine-image'];
const open: Stack[] = [];

async function start(edit?: NonNullable<Parameters<typeof startStack>[0]>['edit']): Promise<Stack> {
  const stack = await startStack(edit === undefined ? {} : { edit });
  open.push(stack);
  return stack;
}

afterEach(async () => {
  for (const stack of open.splice(0)) await stack.close();
});

/** The same for every way in which storage can be gone. */
async function expectStorageDown(stack: Stack): Promise<void> {
  const before = await money(stack);
  for (const model of models) {
    await expectError(await generate(stack, { model }), 502, 'storage_failed');
    await expectError(await edit(stack, { model }), 502, 'storage_failed');
  }
  await expectError(await generate(stack, { model: models[2], n: 3 }), 502, 'storage_failed');
  expect(await money(stack)).toEqual(before);
  const rows = await stack.usage();
  expect(rows).toHaveLength(7);
  for (const row of rows)
    expect(row).toMatchObject({
      images: 0,
      quota: 0,
      outcome: 'error',
      status: 502,
      code: 'storage_failed',
      attempts: 1,
    });
  for (const model of models) {
    const reply = await jsonOf(await generate(stack, { model, response_format: 'b64_json' }));
    expect(picture(reply.data[0].b64_json).width).toBeGreaterThan(0);
  }
  expect((await stack.usage()).slice(0, 3).map(({ images, outcome }) => [images, outcome])).toEqual(
    Array(3).fill([1, 'ok']),
  );
  await expectAudit(stack);
}

describe('a folder', () => {
  it('8 that is gone: 502 storage_failed, not charged; Base64 is not lost; it works again when it is back', async () => {
    const stack = await start();
    const folder = join(stack.data, 'objects');
    await rename(folder, `${folder}-away`);
    await writeFile(folder, 'in the way');
    await expectStorageDown(stack);
    await rm(folder);
    await rename(`${folder}-away`, folder);
    const reply = await jsonOf(await generate(stack, { model: models[0] }));
    await stored(stack, reply.data[0].url);
  });

  it('8 that goes away during a stream: an error event after the preview, not charged', async () => {
    const stack = await start();
    await rm(join(stack.data, 'objects'), { recursive: true });
    await writeFile(join(stack.data, 'objects'), 'in the way');
    const partial = await generate(stack, { model: models[0], stream: true, partial_images: 1 });
    const events = eventsOf(await partial.text());
    expect(namesOf(events)).toEqual(['image_generation.partial_image', 'error']);
    expect(events[1]!.data.error.code).toBe('storage_failed');
    await expectError(await generate(stack, { model: models[1], stream: true }), 502, 'storage_failed');
    expect((await stack.usage()).map(({ quota }) => quota)).toEqual([0, 0]);
    const inline = await generate(stack, { model: models[1], stream: true, response_format: 'b64_json' });
    expect(namesOf(eventsOf(await inline.text()))).toEqual(['image_generation.completed', '[DONE]']);
    await expectAudit(stack);
  });
});

describe('S3', () => {
  it('8 that cannot be reached: 502 storage_failed, not charged; Base64 is not lost', async () => {
    // It answers while the gateway starts and is gone afterwards.
    const server = createServer((_request, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const stack = await start(({ gateway }) => {
      gateway.objects = {
        engine: 's3',
        s3: {
          bucket: 'images',
          endpoint: `http://127.0.0.1:${port}`,
          forcePathStyle: true,
          accessKeyId: 'AKIAEXAMPLE',
          secretAccessKey: 'do-not-tell-anyone',
        },
      };
    });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const error = await expectError(await generate(stack, { model: models[0] }), 502, 'storage_failed');
    expect(JSON.stringify(error)).not.toMatch(/127\.0\.0\.1|AKIA|do-not-tell/);
    expect((await stack.usage())[0]).toMatchObject({ images: 0, quota: 0, outcome: 'error' });
    const reply = await jsonOf(await generate(stack, { model: models[0], response_format: 'b64_json' }));
    expect(picture(reply.data[0].b64_json)).toMatchObject({ width: 1024 });
    await expectAudit(stack);
  });
});
