// Spans of one install: of the whole, and of each worker until it has the configuration and its listeners are settled.
// Spans belong to the trace of the activation, on any node; without one the install begins a trace.
import type { ProxyConfig } from '../../model/proxy-config.ts';
import type { WorkSpan, WorkTraces } from '../../telemetry/traces/work-traces.ts';

export interface InstallTrace {
  /** The worker at that place has it. */
  done(place: number): void;
  /** `failure`: of few different values; without one it is live. */
  end(failure?: string): void;
}

/** Undefined where nothing is traced. */
export function installTrace(
  work: WorkTraces | undefined,
  { id, index, trace }: ProxyConfig,
  workers: number,
): InstallTrace | undefined {
  if (work === undefined) return undefined;
  const attributes = { 'sluice.snapshot.id': id, 'sluice.snapshot.index': index };
  const origin = trace === undefined ? undefined : work.elsewhere(trace);
  const whole = work.begin('internal', 'install', attributes, origin);
  const parts = new Map<number, WorkSpan>();
  for (let place = 0; place < workers; place++) {
    parts.set(place, work.begin('internal', 'worker install', { ...attributes, 'sluice.worker': place }, whole));
  }
  return {
    done(place) {
      parts.get(place)?.end();
      parts.delete(place);
    },
    end(failure = '') {
      for (const part of parts.values()) part.end(failure || 'fallen');
      whole.end(failure);
    },
  };
}
