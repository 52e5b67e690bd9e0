import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const fileOf = (name: string) => `test/${name}.test.ts`;

/** Those that need a process of their own. */
const alone = [
  // They measure the memory of their process: what others left there would be given back meanwhile.
  'direct/memory',
  'realtime/flow',
  'videos/lifetime',
  // It listens for a warning that the AWS SDK gives once in the life of a process.
  'objects/s3-unreachable',
  // It puts another disk under modules that others may have loaded.
  'direct/uploads-room',
].map(fileOf);

/** Those that take longest, mostly by waiting: begun last, each would be waited for alone. */
const longest = [
  'docs/commands',
  'e2e/http',
  'e2e/images-faults',
  'streams/faults',
  'e2e/reload',
  'videos/kill',
  'chat-protocols/hostile',
  'e2e/money-kill',
  'e2e/chat-abort',
  'videos/faults',
  'docs/operator-plugin',
  'ledger/processes',
  'videos/s3',
  'direct/faults',
  'ledger/any-order',
  'cli/demo',
].map(fileOf);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = [...alone, ...longest];
    const rank = ({ moduleId }: TestSpecification) => {
      const index = order.findIndex((name) => moduleId.endsWith(`/${name}`));
      return index < 0 ? order.length : index;
    };
    return (await super.sort(files)).sort((left, right) => rank(left) - rank(right));
  }
}

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // One more than the smallest machine has cores: much of the time is spent in waiting for timeouts.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // With a shared process a test that fails must not leave these to the next one.
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    projects: [
      // Loading the gateway takes a second: once for a worker, not once for a file.
      { extends: true, test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: alone, isolate: false } },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
});
