import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

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
  'videos/lifetime',
  'docs/operator-plugin',
  'ledger/processes',
  'videos/s3',
  'realtime/flow',
  'direct/faults',
  'ledger/any-order',
  'cli/demo',
].map((name) => `/test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = longest.findIndex((name) => moduleId.endsWith(name));
      return index < 0 ? longest.length : index;
    };
    return (await super.sort(files)).sort((left, right) => rank(left) - rank(right));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Loading the gateway takes a second: once for a worker, not once for a file. What a test changes in its process
    // (clocks, variables of the environment, spies) it puts back itself.
    isolate: false,
    // One more than the smallest machine has cores: much of the time is spent in waiting for timeouts.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
  },
});
