// Event stream to one client of `GET /sync/snapshot`: what is written to it, and what waits while it does not read
// (contract.md §4.1).
import type { ServerResponse } from 'node:http';
import type { Sender, SendQueue } from './subscriber-queue.ts';

const keepAlive = ': keepalive\n\n';

export class EventStream implements Sender {
  readonly #response: ServerResponse;
  readonly #queue: SendQueue;
  readonly #further: () => Buffer | undefined;
  #pending: Buffer | undefined;
  #isWriting = false;

  /** @param further what is to be written when no frame waits, if anything; asked at the moment it is written. */
  constructor(response: ServerResponse, queue: SendQueue, further: () => Buffer | undefined = () => undefined) {
    this.#response = response;
    this.#further = further;
    this.#queue = queue;
    response.once('close', () => queue.remove(this));
  }

  /** Sends the frame soon, or once the client has read what it has: the newest one wins. */
  send(frame: Buffer): void {
    this.#pending = frame;
    if (!this.#isWriting) this.#queue.add(this);
  }

  /** There may be something further to write. */
  look(): void {
    if (!this.#isWriting) this.#queue.add(this);
  }

  write(done: () => void): number {
    if (this.#isWriting || this.#response.writableEnded || this.#response.destroyed) return 0;
    const frame = this.#pending ?? this.#further();
    if (frame === undefined) return 0;
    this.#pending = undefined;
    this.#isWriting = true;
    this.#response.write(frame, () => {
      this.#isWriting = false;
      done();
      this.#queue.add(this);
    });
    return frame.length;
  }

  /** A comment that shows the client that the connection lives. Not needed behind a frame that it has not read yet. */
  keepAlive(): void {
    const isBehind = this.#isWriting || this.#pending !== undefined || this.#response.writableNeedDrain;
    if (!isBehind) this.#response.write(keepAlive);
  }

  end(): void {
    this.#queue.remove(this);
    this.#response.end();
  }

  /** Cuts a client that does not read. */
  destroy(): void {
    this.#response.destroy();
  }
}
