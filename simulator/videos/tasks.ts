import { epochSeconds } from '../answers.ts';
import type { Call } from '../contract.ts';
import type { RefusalKind } from '../faults/fault.ts';
import { measureImage } from '../images/measure.ts';
import { readSteering } from '../steering.ts';
import { encodeMp4 } from './mp4.ts';

/** How a task ends: with a video, an error of the vendor, out of time, or refused. */
export type VideoEnding = 'done' | 'error' | 'expired' | RefusalKind;

interface Film {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
}

interface Wish<Facts> {
  readonly id: string;
  /** The credential that made it; no other one finds it. */
  readonly owner: string | undefined;
  readonly prompt: string;
  readonly film: Film;
  /** What the vendor repeats of the request. */
  readonly facts: Facts;
}

/** A video in the making; it proceeds with each poll. */
export interface VideoTask<Facts> extends Wish<Facts> {
  /** Seconds since the epoch. */
  readonly created: number;
  /** The poll that finds it finished. */
  readonly needed: number;
  readonly bytes: number | undefined;
  polls: number;
  ending: VideoEnding;
  /** Seconds since the epoch, once it has ended. */
  finished: number | undefined;
}

const FAIL = /\[fail=(error|moderation|expired)\]/;

/** Starts a task that `[polls=]`, `[bytes=]`, `[fail=]` and a refusal among the faults steer. */
export function startVideo<Facts>(call: Call, wish: Wish<Facts>): VideoTask<Facts> {
  const { polls, bytes } = readSteering(wish.prompt);
  const ending = call.fault.refuse ?? failureIn(wish.prompt) ?? 'done';
  const needed = Math.max(1, polls);
  return { ...wish, created: epochSeconds(), needed, bytes, polls: 0, ending, finished: undefined };
}

function failureIn(prompt: string): VideoEnding | undefined {
  const failure = FAIL.exec(prompt)?.[1];
  return failure === 'moderation' ? 'safety' : (failure as VideoEnding | undefined);
}

/** One poll; a refusal among its faults ends the task there and then. */
export function pollVideo<Facts>(task: VideoTask<Facts>, call: Call): void {
  if (task.finished !== undefined) return;
  task.polls += 1;
  if (call.fault.refuse) task.ending = call.fault.refuse;
  else if (task.polls < task.needed) return;
  task.finished = epochSeconds();
}

/** Percent, 100 only at the end. */
export function progressOf({ polls, needed, finished }: VideoTask<unknown>): number {
  return finished === undefined ? Math.floor((100 * polls) / needed) : 100;
}

/** The MP4 in parts, the same bytes each time. */
export function videoFile({ id, film, bytes }: VideoTask<unknown>, call: Call): Buffer[] {
  const { width, height, seconds } = film;
  const frame = call.pictures.draw({ format: 'jpeg', width, height, seed: id }).bytes;
  return encodeMp4({ width, height, ...measureImage(frame), seconds, frame, bytes });
}
