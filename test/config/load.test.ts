import { describe, expect, test } from 'vitest';
import { formatFault, loadConfiguration } from '../../engine/config/index.ts';
import { registry } from './registry.ts';

test('the four files at the top level load', async () => {
  const result = await loadConfiguration('.', registry, {});
  expect(result.ok ? [] : result.faults.map(formatFault)).toEqual([]);
});
