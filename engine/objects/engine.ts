import type { Readable } from 'node:stream';
import type { Objects } from '../contract/ports.ts';

/** What both engines are behind the port. */
export interface ObjectsEngine extends Objects {
  /** Proves at start that objects could be stored; throws an Error whose sentence an operator can act on. */
  check(): Promise<void>;
  /** The bytes of an object as they are stored; to be read to its end or destroyed. */
  read(key: string): Promise<Readable>;
}
