import type { Problem } from '../checks.ts';

export interface ServerEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Thrown for a client event that is wrong; answered with an `error` event, the session goes on. */
export class EventProblem extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

export function refuseEvent(param: string | null, code: string | null, message: string): never {
  throw new EventProblem({ param: param as string, code, message });
}

export function refuseProblem(problem: Problem | undefined): void {
  if (problem) throw new EventProblem(problem);
}

/** `cause` is the `event_id` of the client event that was wrong. */
export function problemEvent({ param, code, message }: Problem, cause: unknown): ServerEvent {
  const event_id = typeof cause === 'string' ? cause : null;
  return { type: 'error', error: { type: 'invalid_request_error', code, message, param, event_id } };
}

/** What the vendor says of a fault of its own. */
export const FAILURE_EVENT: ServerEvent = {
  type: 'error',
  error: {
    type: 'server_error',
    code: null,
    message: 'The server had an error while processing your request.',
    param: null,
    event_id: null,
  },
};
