// Where the lines of an access log go, seen from whoever makes them.
import type { LineBytes } from './line-bytes.ts';

/** Takes whole lines for one place; may drop them, and counts those. */
export interface LineSink {
  /** What to write a line into, its line break included; undefined: it is dropped. */
  begin(): LineBytes | undefined;
  /** The line is whole; one that was not ended is forgotten when the next begins. */
  end(): void;
}
