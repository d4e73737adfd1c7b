// The spans of one install: of the whole, and of each worker's part from compiling to its listeners being settled. It is
// a part of the trace of whoever activated the configuration here; on other nodes it begins one.
import type { ProxyConfig } from '../../model/proxy-config.ts';
import type { WorkTraces } from '../../telemetry/traces/work-traces.ts';

export interface InstallTrace {
  /** Of one worker, by its place; call what is given once. `failure` is empty when nothing went wrong. */
  worker(place: number): (failure: string) => void;
  end(failure: string): void;
}

/** Undefined where nothing is traced. */
export function installTrace(work: WorkTraces | undefined, { id, index }: ProxyConfig): InstallTrace | undefined {
  if (work === undefined) return undefined;
  const attributes = { 'sluice.snapshot.id': id, 'sluice.snapshot.index': index };
  const whole = work.begin('internal', 'install', attributes, work.originOf(index));
  return {
    worker(place) {
      const part = work.begin('internal', 'worker install', { ...attributes, 'sluice.worker': place }, whole);
      return (failure) => part.end(failure);
    },
    end: (failure) => whole.end(failure),
  };
}
