// The command line's part for the tests: credits one user, one unit at a time.
// node crediting-process.mjs <folder> <user id> <times> <name>
import { openAccounts } from '../../dist/engine/ledger/index.js';

const [folder, userId, times, name] = process.argv.slice(2);
const accounts = await openAccounts(folder);
for (let index = 0; index < Number(times); index++)
  await accounts.credit(Number(userId), 1, 'test', `${name}-${index}`);
// Sent again: counts nothing.
await accounts.credit(Number(userId), 1, 'test', `${name}-0`);
await accounts.close();
