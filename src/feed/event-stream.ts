// One client of `GET /sync/snapshot`: what is written to it, and what waits while it does not read (contract.md §4.1).
import type { ServerResponse } from 'node:http';

const keepAlive = ': keepalive\n\n';

export class EventStream {
  readonly #response: ServerResponse;
  #pending: Buffer | undefined;
  #blocked = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('drain', () => this.#resume());
  }

  /** Sends the frame, or keeps it until the client has read what it has: the newest one wins. */
  send(frame: Buffer): void {
    if (this.#blocked) this.#pending = frame;
    else this.#blocked = !this.#response.write(frame);
  }

  /** A comment that shows the client that the connection lives. Not needed behind a frame that it has not read yet. */
  keepAlive(): void {
    if (!this.#blocked) this.#blocked = !this.#response.write(keepAlive);
  }

  end(): void {
    this.#response.end();
  }

  /** Cuts a client that does not read. */
  destroy(): void {
    this.#response.destroy();
  }

  #resume(): void {
    this.#blocked = false;
    const frame = this.#pending;
    this.#pending = undefined;
    if (frame !== undefined) this.send(frame);
  }
}
