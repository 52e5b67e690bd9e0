import type { Objects } from '../contract/ports.ts';

/** What both engines are behind the port. */
export interface ObjectsEngine extends Objects {
  /** Proves at start that objects could be stored; throws an Error whose sentence an operator can act on. */
  check(): Promise<void>;
}
