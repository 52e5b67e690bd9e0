/** The full chain grows by one step at a time: the differences are the prices of the stages. */
export const steps = [
  ['auth'],
  ['auth', 'limits'],
  ['auth', 'limits', 'idempotency'],
  ['auth', 'limits', 'idempotency', 'normalize', 'billing'],
] as const;
