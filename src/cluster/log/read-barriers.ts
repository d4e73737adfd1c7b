// Asks the log for an index to read at, again after a refusal, until it has one or time is up: a change of leader is
// hidden from readers as it is from writers (raft.md A12).

import { SluiceError } from '../../errors.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import type { LogPort } from './log-port.ts';

interface PendingRead {
  readonly resolve: (index: number) => void;
  readonly reject: (error: SluiceError) => void;
  readonly cancelDeadline: Cancel;
  cancelRetry: Cancel;
  reason: string;
}

const retryMs = 50;

export class ReadBarriers {
  readonly #port: Pick<LogPort, 'read'>;
  readonly #clock: Clock;
  readonly #reads = new Set<PendingRead>();
  /** Those of them that were refused, and are to be asked again. */
  readonly #refused = new Set<PendingRead>();

  constructor({ port, clock }: { readonly port: Pick<LogPort, 'read'>; readonly clock: Clock }) {
    this.#port = port;
    this.#clock = clock;
  }

  index(withinMs: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const cancelDeadline = this.#clock.after(withinMs, () => this.#end(read).reject(unavailable(read.reason)));
      const read: PendingRead = { resolve, reject, cancelDeadline, cancelRetry: () => undefined, reason: late };
      this.#reads.add(read);
      this.#ask(read);
    });
  }

  #answer(read: PendingRead, index: number | undefined): void {
    if (!this.#reads.has(read)) return;
    if (index !== undefined) {
      this.#end(read).resolve(index);
      return;
    }
    read.reason = noQuorum;
    this.#refused.add(read);
    read.cancelRetry = this.#clock.after(retryMs, () => this.#ask(read));
  }

  leaderChanged(): void {
    for (const read of [...this.#refused]) this.#ask(read);
  }

  fail(error: SluiceError): void {
    for (const read of [...this.#reads]) this.#end(read).reject(error);
  }

  #ask(read: PendingRead): void {
    read.cancelRetry();
    this.#refused.delete(read);
    this.#port.read((index) => this.#answer(read, index));
  }

  #end(read: PendingRead): PendingRead {
    read.cancelDeadline();
    read.cancelRetry();
    this.#refused.delete(read);
    this.#reads.delete(read);
    return read;
  }
}

const noQuorum = 'no quorum could be reached';
const late = 'no index to read at was agreed on in time';

const unavailable = (reason: string): SluiceError => new SluiceError('UNAVAILABLE', reason);
