// Frame batcher of a thread: lets the writes of one event-loop tick leave together. Each connection with gathered
// frames is flushed once, after all that had arrived was handled. Jobs that take several ticks share a time budget
// per tick. Schedules a tick only when there is work.
import { guards } from './guards.ts';

export interface Flushable {
  /** True while it waits for the flush; only the batcher changes it. */
  queued: boolean;
  flush(): void;
}

export interface Job {
  /** Does one step of the job, and returns whether there are more. */
  step(): boolean;
}

export class FrameBatcher {
  readonly #soon: (act: () => void) => void;
  readonly #nowMs: () => number;
  #waiting: Flushable[] = [];
  #flushing: Flushable[] = [];
  #jobs: Job[] = [];
  #scheduled = false;
  #lateMs = 0;

  /** `soon` calls back once, later in the same tick: `setImmediate`. `nowMs` is monotonic. */
  constructor(soon: (act: () => void) => void, nowMs: () => number) {
    this.#soon = soon;
    this.#nowMs = nowMs;
  }

  add(member: Flushable): void {
    if (member.queued) return;
    member.queued = true;
    this.#waiting.push(member);
    this.#schedule();
  }

  /**
   * Adds a job. A tick does one step of each job, in order, until the budget is used up; the remaining jobs are first
   * in the next tick.
   */
  addJob(job: Job): void {
    this.#jobs.push(job);
    this.#schedule();
  }

  /** True when the jobs have used up the budget of this tick. */
  get late(): boolean {
    return this.#nowMs() >= this.#lateMs;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#soon(this.#flushAll);
  }

  readonly #flushAll = (): void => {
    this.#scheduled = false;
    const passing = this.#waiting;
    this.#waiting = this.#flushing;
    this.#flushing = passing;
    for (const member of passing) {
      member.queued = false;
      member.flush();
    }
    passing.length = 0;
    if (this.#jobs.length > 0) this.#runJobs();
  };

  #runJobs(): void {
    this.#lateMs = this.#nowMs() + guards.workMsPerTick;
    const jobs = this.#jobs;
    const again: Job[] = [];
    let done = 0;
    this.#jobs = [];
    do {
      const job = jobs[done++];
      if (job?.step()) again.push(job);
    } while (done < jobs.length && !this.late);
    this.#jobs = [...jobs.slice(done), ...this.#jobs, ...again];
    if (this.#jobs.length > 0) this.#schedule();
  }
}

/** Batcher of this thread. */
export const threadBatcher = new FrameBatcher(
  (act) => setImmediate(act),
  () => performance.now(),
);
