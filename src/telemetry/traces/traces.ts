// Traces of a process, as whoever makes spans and whoever stops it see them. There are none where the settings name no
// collector.
import type { SpanBatch } from './span-batches.ts';
import type { Tracing } from './tracing.ts';
import type { WorkTraces } from './work-traces.ts';

export interface Traces {
  /** 0 to 1: of the traces that begin here. */
  readonly sampleRatio: number;
  /** Of the main thread. */
  readonly tracing: Tracing;
  /** Of the main thread's own work. */
  readonly work: WorkTraces;
  /** What a worker has gathered. */
  take(batch: SpanBatch): void;
  /** Posts what is left, for a second at most. */
  close(): Promise<void>;
}
