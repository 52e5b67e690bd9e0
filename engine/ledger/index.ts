/** The ledger: users, keys, balances, usage, the journal. `gateway.db` and `journal/` in the data folder. */
export * from './accounts-contract.ts';
export { hashKey, isWellFormedKey } from './key.ts';
export { type LedgerOptions, type OpenLedger, openAccounts, openLedger } from './open.ts';
