// Asks the log for an index to read at, again after a refusal, until it has one or time is up: a change of leader is
// hidden from readers as it is from writers (raft.md A12).
import type { Cancel, Clock } from '../../clock.ts';
import { SluiceError } from '../../errors.ts';
import type { FromLog, LogPort } from './log-port.ts';

interface PendingRead {
  readonly resolve: (index: number) => void;
  readonly reject: (error: SluiceError) => void;
  readonly cancelDeadline: Cancel;
  cancelRetry: Cancel;
  reason: string;
}

const retryMs = 50;

export class ReadBarriers {
  readonly #port: LogPort;
  readonly #clock: Clock;
  readonly #reads = new Map<number, PendingRead>();
  /** Refused, and to be asked again. */
  readonly #refused = new Set<PendingRead>();
  #id = 0;

  constructor({ port, clock }: { readonly port: LogPort; readonly clock: Clock }) {
    this.#port = port;
    this.#clock = clock;
  }

  index(withinMs: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const cancelDeadline = this.#clock.after(withinMs, () => this.#end(read).reject(unavailable(read.reason)));
      const read: PendingRead = { resolve, reject, cancelDeadline, cancelRetry: () => undefined, reason: late };
      this.#ask(read);
    });
  }

  answer(message: Extract<FromLog, { type: 'readable' }>): void {
    const read = this.#reads.get(message.id);
    if (read === undefined) return;
    this.#reads.delete(message.id);
    if ('index' in message) {
      this.#end(read).resolve(message.index);
      return;
    }
    read.reason = message.refused.reason;
    this.#refused.add(read);
    read.cancelRetry = this.#clock.after(retryMs, () => this.#ask(read));
  }

  leaderChanged(): void {
    for (const read of [...this.#refused]) this.#ask(read);
  }

  fail(error: SluiceError): void {
    for (const read of [...this.#reads.values(), ...this.#refused]) this.#end(read).reject(error);
  }

  #ask(read: PendingRead): void {
    read.cancelRetry();
    this.#refused.delete(read);
    const id = ++this.#id;
    this.#reads.set(id, read);
    this.#port.post({ type: 'read', id });
  }

  #end(read: PendingRead): PendingRead {
    read.cancelDeadline();
    read.cancelRetry();
    this.#refused.delete(read);
    for (const [id, other] of this.#reads) if (other === read) this.#reads.delete(id);
    return read;
  }
}

const late = 'no index to read at was agreed on in time';

const unavailable = (reason: string): SluiceError =>
  new SluiceError('UNAVAILABLE', reason, { headers: { 'Retry-After': '1' } });
