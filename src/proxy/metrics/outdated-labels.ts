// Label sets of what is not configured any more go five minutes after their last change, so that they are scraped to their
// end and then make room. Main decides for all workers together: a sum over them never shrinks.

import type { Configuration } from '../../model/proxy-config.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import { inSlices } from '../compile-slices.ts';
import { ConfiguredSubjects, endpointSubject } from './configured.ts';
import type { Exposition, UpstreamStates } from './exposition.ts';

const keepMs = 5 * 60_000;
const lookEveryMs = 15_000;
/** After an activation, which has better things to do at first; one look is enough for a storm of them. */
const lookAfterMs = 1_000;

export interface OutdatedLabelsOptions {
  readonly exposition: Exposition;
  readonly states: Pick<UpstreamStates, 'endpoints'>;
  readonly clock: Clock;
  /** To all workers: these mean nothing any more. */
  readonly post: (listener: string, subjects: readonly string[]) => void;
  /** Runs steps to their end. Default: in time slices, beside the other work of the thread. */
  readonly run?: ((steps: Generator<void>) => Promise<void>) | undefined;
}

/** Maximum number of subjects that are dropped at a time. */
const dropMax = 500;

interface Seen {
  /** Changes with every change. */
  readonly sum: number;
  readonly sinceMs: number;
}

export class OutdatedLabels {
  readonly #options: OutdatedLabelsOptions;
  readonly #configured = new ConfiguredSubjects();
  /** Configurations in force. */
  #configurations: readonly Configuration[] = [];
  #seen = new Map<string, Seen>();
  #isLooking = false;
  #checkScheduled = false;
  #looked: Promise<void> = Promise.resolve();
  #cancel: Cancel = () => {};
  #cancelLook: Cancel | undefined;

  constructor(options: OutdatedLabelsOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** Takes up the configurations in force. */
  follow(configurations: readonly Configuration[]): void {
    this.#configurations = configurations;
    // What a look under way was going to drop may be there again.
    if (this.#isLooking) this.#checkScheduled = true;
    // What is not there any more is looked at from then on.
    this.#cancelLook ??= this.#options.clock.after(lookAfterMs, () => {
      this.#cancelLook = undefined;
      void this.look();
    });
  }

  /** Resolves when it has looked; one look at a time. */
  look(): Promise<void> {
    this.#checkScheduled = true;
    if (!this.#isLooking) {
      this.#isLooking = true;
      this.#looked = (this.#options.run ?? inSlices)(this.#looks());
    }
    return this.#looked;
  }

  *#looks(): Generator<void> {
    try {
      while (this.#checkScheduled) {
        this.#checkScheduled = false;
        yield* this.#configured.follow(this.#configurations);
        yield* this.#look();
      }
    } finally {
      this.#isLooking = false;
    }
  }

  *#look(): Generator<void> {
    const { exposition, states, clock } = this.#options;
    const endpoints = new Set(
      states.endpoints().map(({ destination, endpoint }) => endpointSubject(destination, endpoint)),
    );
    const nowMs = clock.monotonicMs();
    const seen = new Map<string, Seen>();
    const outdated: [listener: string, subject: string][] = [];
    let looks = 0;
    for (const [listener, subjects] of exposition.subjects()) {
      for (const [subject, tally] of subjects) {
        if (++looks % 64 === 0) yield;
        if (this.#configured.has(subject) || endpoints.has(subject)) continue;
        const key = `${listener}\n${subject}`;
        const before = this.#seen.get(key);
        const { sum, busy } = tally();
        const isSame = before !== undefined && before.sum === sum && !busy;
        if (isSame && nowMs - before.sinceMs >= keepMs) outdated.push([listener, subject]);
        else seen.set(key, isSame ? before : { sum, sinceMs: nowMs });
      }
    }
    yield* this.#drop(outdated);
    this.#seen = seen;
  }

  /** Drops the outdated subjects; stops when a new configuration has come, which may have them again. */
  *#drop(outdated: readonly (readonly [listener: string, subject: string])[]): Generator<void> {
    const { exposition, post } = this.#options;
    for (let from = 0; from < outdated.length && !this.#checkScheduled; from += dropMax) {
      const some = outdated.slice(from, from + dropMax);
      for (const listener of new Set(some.map(([each]) => each))) {
        const subjects = some.filter(([each]) => each === listener).map(([, subject]) => subject);
        exposition.drop(listener, subjects);
        post(listener, subjects);
      }
      yield;
    }
  }

  close(): void {
    this.#cancel();
    this.#cancelLook?.();
  }

  #schedule(): void {
    this.#cancel = this.#options.clock.after(lookEveryMs, () => {
      void this.look();
      this.#schedule();
    });
  }
}
