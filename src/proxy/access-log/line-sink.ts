// Sink for the lines of an access log, as their writers see it.
import type { LineBytes } from './line-bytes.ts';

/** Takes whole lines for one place; may drop them, and counts those. */
export interface LineSink {
  /** Returns the buffer for a line, its line break included; undefined: the line is dropped. */
  begin(): LineBytes | undefined;
  /** The line is whole; one that was not ended is forgotten when the next begins. */
  end(): void;
}
