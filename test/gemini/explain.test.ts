import { expect, it, vi } from 'vitest';
import { packageRoot } from '../../engine/config/index.ts';
import { call } from '../cli/in-process.ts';

it('9 gateway explain tells what becomes of a native request, with the model in the path', async () => {
  vi.stubEnv('GOOGLE_API_KEY', undefined);
  const route = '/v1beta/models/*:generateContent';
  const words = ['explain', '--config', packageRoot(), '--model', 'demo-gemini', '--route', route];
  const result = await call(words);
  vi.unstubAllEnvs();
  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(result.stdout).toContain('/models/gemini-3.6-flash:generateContent');
});
