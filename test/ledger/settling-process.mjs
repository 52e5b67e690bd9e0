// A gateway's process for the tests: settles in a loop and prints each request id whose settlement was acknowledged.
// node settling-process.mjs <folder> <secret> <off|batch> <name>
import { writeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { hashKey, openLedger } from '../../dist/engine/ledger/index.js';

const [folder, secret, sync, name] = process.argv.slice(2);
const log = { debug() {}, info() {}, warn() {}, error() {} };
const ledger = await openLedger({ folder, sync, log, segmentSize: 200_000 });
const key = await ledger.findKey(hashKey(secret));

const row = (requestId) => ({
  requestId,
  time: Date.now(),
  userId: key.userId,
  keyId: key.id,
  endpoint: '/v1/chat/completions',
  model: 'demo-chat',
  group: 'default',
  multiplier: '1',
  channel: null,
  attempts: 1,
  images: 0,
  inputTokens: 1,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 1,
  reasoningTokens: 0,
  quota: 3,
  status: 200,
  outcome: 'ok',
  code: null,
  usageSource: 'measured',
  durationMs: 1,
  firstByteMs: null,
  seconds: 0,
  characters: 0,
  searchUnits: 0,
  audioInputTokens: 0,
  audioOutputTokens: 0,
});

const settle = async (requestId) => {
  try {
    await ledger.settle(ledger.hold(key, 5), row(requestId));
    writeSync(1, `done ${requestId}\n`);
  } catch (error) {
    writeSync(1, `refused ${requestId} ${error.code} ${error.cause?.code}\n`);
  }
};

for (let turn = 0; ; turn++) {
  await Promise.all(Array.from({ length: 9 }, (_, index) => settle(`${name}-${turn}-${index}`)));
  await nextTurn();
}
