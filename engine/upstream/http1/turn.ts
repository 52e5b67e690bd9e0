/**
 * A connection that was idle is written to at the end of a turn of the event loop, when the sockets were asked once more
 * since it became idle: bytes, a FIN or a reset that came in the meantime are known by then. They are never taken for the
 * answer, and the request, not sent yet, can go elsewhere. One immediate serves all requests of a turn.
 */
export interface Waiting {
  turnEnded(): void;
}

let waiting: Waiting[] = [];
let turn = 0;

function flush(): void {
  const due = waiting;
  waiting = [];
  for (const one of due) one.turnEnded();
  turn++;
}

export function atEndOfTurn(one: Waiting): void {
  if (waiting.push(one) === 1) setImmediate(flush);
}

/** Where it is another number than before, the sockets were asked in between. */
export function currentTurn(): number {
  return turn;
}
