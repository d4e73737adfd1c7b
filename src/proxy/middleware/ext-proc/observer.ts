// Fire and forget (contract.md §8.6, observe mode): messages wait in a bounded queue and are sent by so many at a time;
// nothing that comes back changes anything, and no exchange waits.
import type { Logger } from '../../../telemetry/logger.ts';
import type { Conversation, PhaseMessage } from './answer.ts';

export interface ObserverOptions {
  readonly open: () => Conversation;
  readonly workers: number;
  readonly queueMax: number;
  readonly timeoutMs: number;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

const warnMsMin = 10_000;
/** However many messages may wait: bodies in them are long. */
const queuedBytesMax = 64 * 1024 * 1024;

export class Observer {
  readonly #options: ObserverOptions;
  readonly #queue: PhaseMessage[] = [];
  #queuedBytes = 0;
  #sending = 0;
  #dropped = 0;
  #warnedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ObserverOptions) {
    this.#options = options;
  }

  show(message: PhaseMessage): void {
    const { workers, queueMax } = this.#options;
    if (this.#sending < workers) void this.#send(message);
    else if (this.#queue.length < queueMax && this.#queuedBytes < queuedBytesMax) {
      this.#queue.push(message);
      this.#queuedBytes += bytesOf(message);
    } else this.#drop();
  }

  async #send(first: PhaseMessage): Promise<void> {
    this.#sending++;
    for (let message: PhaseMessage | undefined = first; message !== undefined; message = this.#next()) {
      const conversation = this.#options.open();
      try {
        await conversation.ask(message, this.#options.timeoutMs);
      } catch {
        // An observer's answer is not used, nor is its absence.
      }
      conversation.end();
    }
    this.#sending--;
  }

  #next(): PhaseMessage | undefined {
    const message = this.#queue.shift();
    if (message !== undefined) this.#queuedBytes -= bytesOf(message);
    return message;
  }

  #drop(): void {
    this.#dropped++;
    const now = this.#options.nowMs();
    if (now - this.#warnedMs < warnMsMin) return;
    this.#warnedMs = now;
    this.#options.logger.warn({ dropped: this.#dropped }, 'an observing processor is too slow: messages are dropped');
  }
}

function bytesOf({ headers = [], body }: PhaseMessage): number {
  let bytes = body?.length ?? 0;
  for (const text of headers) bytes += text.length;
  return bytes;
}
