/**
 * A connection that was idle is written to at the end of the turn of the event loop: by then bytes, a FIN or a reset
 * that had come in before are known, so that they are never taken for the answer, and the request, not sent yet, can go
 * elsewhere. One immediate serves all requests of a turn.
 */
export interface Waiting {
  turnEnded(): void;
}

let waiting: Waiting[] = [];

function flush(): void {
  const due = waiting;
  waiting = [];
  for (const one of due) one.turnEnded();
}

export function atEndOfTurn(one: Waiting): void {
  if (waiting.push(one) === 1) setImmediate(flush);
}
