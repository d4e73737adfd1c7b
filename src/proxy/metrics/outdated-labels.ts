// Label sets of what is not configured any more go five minutes after their last change, so that they are scraped to their
// end and then make room. Main decides for all workers together: a sum over them never shrinks.
import type { Cancel, Clock } from '../../clock.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import { configuredSubjects, endpointSubject } from './configured.ts';
import type { Exposition, UpstreamStates } from './exposition.ts';

const keepMs = 5 * 60_000;
const lookEveryMs = 15_000;

export interface OutdatedLabelsOptions {
  readonly exposition: Exposition;
  readonly states: Pick<UpstreamStates, 'endpoints'>;
  readonly clock: Clock;
  /** To all workers: these mean nothing any more. */
  readonly tell: (listener: string, subjects: readonly string[]) => void;
}

interface Seen {
  /** Changes with every change. */
  readonly sum: number;
  readonly sinceMs: number;
}

export class OutdatedLabels {
  readonly #options: OutdatedLabelsOptions;
  #configured = new Set<string>();
  #seen = new Map<string, Seen>();
  #cancel: Cancel = () => {};

  constructor(options: OutdatedLabelsOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** These are in force from now on. */
  follow(configurations: readonly Configuration[]): void {
    this.#configured = configuredSubjects(configurations);
    // What is not there any more is looked at from now on.
    this.look();
  }

  look(): void {
    const { exposition, states, clock, tell } = this.#options;
    const endpoints = new Set(
      states.endpoints().map(({ destination, endpoint }) => endpointSubject(destination, endpoint)),
    );
    const nowMs = clock.monotonicMs();
    const seen = new Map<string, Seen>();
    for (const [listener, subjects] of exposition.subjects()) {
      const outdated: string[] = [];
      for (const [subject, tally] of subjects) {
        if (this.#configured.has(subject) || endpoints.has(subject)) continue;
        const key = `${listener}\n${subject}`;
        const before = this.#seen.get(key);
        const { sum, busy } = tally();
        const isSame = before !== undefined && before.sum === sum && !busy;
        if (isSame && nowMs - before.sinceMs >= keepMs) outdated.push(subject);
        else seen.set(key, isSame ? before : { sum, sinceMs: nowMs });
      }
      if (outdated.length === 0) continue;
      exposition.drop(listener, outdated);
      tell(listener, outdated);
    }
    this.#seen = seen;
  }

  close(): void {
    this.#cancel();
  }

  #schedule(): void {
    this.#cancel = this.#options.clock.after(lookEveryMs, () => {
      this.look();
      this.#schedule();
    });
  }
}
