// Traces of a process: the interface for code that makes spans and for the shutdown. None are made where the settings
// name no collector.
import type { SpanBatch } from './span-batches.ts';
import type { Tracing } from './tracing.ts';
import type { WorkTraces } from './work-traces.ts';

export interface Traces {
  /** Share of recorded traces, 0 to 1, of those that begin here. */
  readonly sampleRatio: number;
  /** Tracing of the main thread. */
  readonly tracing: Tracing;
  /** Spans of the main thread's own work. */
  readonly work: WorkTraces;
  /** Takes the spans of a worker. */
  take(batch: SpanBatch): void;
  /** Posts what is left, for a second at most. */
  close(): Promise<void>;
}
