/** A stream of events: `count` words, one every `interval` ms. */
import type uWS from 'uWebSockets.js';
import { tick } from './wheel.ts';

/** What a protocol says at the beginning, for each word, and at the end. */
export interface Script {
  readonly first: string;
  word(stamped: boolean): string;
  readonly last: string;
}

class Stream {
  private readonly response: uWS.HttpResponse;
  private readonly script: Script;
  private readonly total: number;
  private readonly stamped: boolean;
  private sent = 0;
  gone = false;

  constructor(response: uWS.HttpResponse, script: Script, total: number, stamped: boolean) {
    this.response = response;
    this.script = script;
    this.total = total;
    this.stamped = stamped;
  }

  next(): boolean {
    if (this.gone) return false;
    this.response.cork(() => {
      if (this.sent < this.total) this.response.write(this.script.word(this.stamped));
      else this.response.end(this.script.last);
    });
    return this.sent++ < this.total;
  }
}

/** The value of `[name=…]` in what the client asks. */
export function asked(body: string, name: string, fallback: number): number {
  const found = new RegExp(`\\[${name}=(\\d+)\\]`).exec(body);
  return found ? Number(found[1]) : fallback;
}

export function play(response: uWS.HttpResponse, body: string, script: Script): void {
  const stream = new Stream(response, script, asked(body, 'chunks', 100), body.includes('[stamped]'));
  response.onAborted(() => {
    stream.gone = true;
  });
  response.cork(() => response.writeHeader('content-type', 'text/event-stream').write(script.first));
  tick(stream, asked(body, 'delay', 10));
}
