import { wholeAnswer } from '../answers.ts';
import type { Answer, Call, Vendor } from '../contract.ts';
import { byteLength, joinFrames, mapText, reframe, truncate } from './bytes.ts';
import type { Fault } from './fault.ts';

export interface Scene {
  readonly vendor: Vendor;
  readonly call: Call;
}

type Apply<Name extends keyof Fault> = (answer: Answer, setting: NonNullable<Fault[Name]>, scene: Scene) => Answer;

const PAGE = '<!doctype html><html><head><title>502</title></head><body><h1>Bad gateway</h1></body></html>\n';
const WRONG_LENGTH = 64;

const firstBrace = (text: string, blanks: number): string => text.replace('{', `{${' '.repeat(blanks)}`);

/** In the order in which they apply: first what replaces the answer, then its events, then how it is written. */
const FAULTS: { [Name in keyof Fault]?: Apply<Name> } = {
  status: (_answer, status, { vendor, call }) => vendor.failure(status, call.fault.retryAfter, call),

  error200: (_answer, _setting, { vendor, call }) => {
    return { ...vendor.failure(500, call.fault.retryAfter, call), status: 200 };
  },

  refuse: (answer, kind, { vendor, call }) => (answer.status === 200 ? vendor.refusal(kind, call, answer) : answer),

  empty200: (answer) => ({ ...answer, status: 200, frames: [] }),

  wrongtype: () => wholeAnswer(200, { 'content-type': 'text/html; charset=utf-8' }, [PAGE]),

  malformed: (answer, index) => {
    if (!answer.streamed) {
      const body = joinFrames(answer.frames);
      return { ...answer, frames: [{ kind: 'data', bytes: body.subarray(0, Math.ceil(body.length * 0.7)) }] };
    }
    const broken = (text: string): string => `${text.trimEnd().slice(0, Math.ceil(text.length * 0.7))}\n\n`;
    return { ...answer, frames: answer.frames.map((frame, at) => (at === index ? mapText(frame, broken) : frame)) };
  },

  errorframe: (answer, after, { vendor, call }) => {
    if (!answer.streamed) return answer;
    const error = { kind: 'data', bytes: vendor.errorFrame(call, answer) } as const;
    return { ...answer, frames: [...answer.frames.slice(0, after), error] };
  },

  nodone: (answer) => ({ ...answer, frames: answer.frames.filter(({ kind }) => kind !== 'done') }),

  hugeline: (answer, blanks) => {
    const [first, ...rest] = answer.frames;
    return first ? { ...answer, frames: [mapText(first, (text) => firstBrace(text, blanks)), ...rest] } : answer;
  },

  crlf: (answer) => {
    const change = (text: string): string => text.replace(/\r?\n/g, '\r\n');
    return answer.streamed ? { ...answer, frames: answer.frames.map((frame) => mapText(frame, change)) } : answer;
  },

  cut: (answer, after) => {
    if (!answer.streamed) return truncate(answer, byteLength(answer.frames) >> 1, 'cut');
    return { ...answer, frames: answer.frames.slice(0, after), ending: 'cut' };
  },

  cutbody: (answer, bytes) => truncate(answer, bytes, 'cut'),

  stall: (answer, after) => {
    if (!answer.streamed) return truncate(answer, byteLength(answer.frames) >> 1, 'stall');
    return { ...answer, frames: answer.frames.slice(0, after), ending: 'stall' };
  },

  delay: (answer, interval) => ({ ...answer, interval }),

  trickle: (answer, size, { call }) => ({ ...reframe(answer, size), interval: call.fault.delay ?? 1 }),

  split: (answer, size) => reframe(answer, size),

  length: (answer, which) => {
    const actual = byteLength(answer.frames);
    const declaredLength = Math.max(0, actual + (which === 'longer' ? WRONG_LENGTH : -WRONG_LENGTH));
    return { ...answer, declaredLength, ending: 'hang-up' };
  },

  latency: (answer, latency) => ({ ...answer, latency }),

  reset: (answer) => ({ ...answer, ending: 'reset' }),
};

/** Faults of JSON and of events leave sound and pictures as they are. */
const TEXT_FAULTS: readonly (keyof Fault)[] = ['malformed', 'errorframe', 'hugeline', 'crlf'];
const isBinary = ({ headers }: Answer): boolean => /^(audio|image|video)\//.test(headers['content-type'] ?? '');

const ORDER = Object.keys(FAULTS) as (keyof Fault)[];

/** Runs an answer through every fault that is set. */
export function applyFaults(answer: Answer, scene: Scene): Answer {
  if (Object.keys(scene.call.fault).length === 0) return answer;
  return ORDER.reduce((result, name) => {
    const setting = scene.call.fault[name];
    if (setting === undefined || setting === false) return result;
    if (TEXT_FAULTS.includes(name) && isBinary(result)) return result;
    return (FAULTS[name] as Apply<typeof name>)(result, setting as never, scene);
  }, answer);
}
