// Gate: a new connection until its first bytes tell what serves it, within the time and the memory of unfinished heads.
import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import type { SocketReceiver } from '../socket/byte-socket.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import { TcpSocket } from '../socket/tcp-socket.ts';
import type { HeadHolder, UnfinishedHeads } from '../socket/unfinished-heads.ts';
import { Timed, type Wheel } from '../wheel.ts';
import type { BegunHandshake } from './listener-service.ts';

export abstract class Gate extends Timed implements SocketReceiver, HeadHolder {
  headBytes = 0;
  protected readonly wire: TcpSocket;
  readonly #wheel: Wheel;
  readonly #heads: UnfinishedHeads;
  readonly #bytes = new ReceiveBuffer();
  readonly #startedMs: number;
  #settled = false;

  /** `withinMs` 0 = no limit. `begun`: what the client has sent and used of its time before. */
  constructor(handle: TcpHandle, wheel: Wheel, heads: UnfinishedHeads, withinMs: number, begun?: BegunHandshake) {
    super();
    this.#wheel = wheel;
    this.#heads = heads;
    const spentMs = begun?.spentMs ?? 0;
    this.#startedMs = wheel.nowMs - spentMs;
    if (withinMs > 0) wheel.arm(this, Math.max(1, withinMs - spentMs));
    const wire = new TcpSocket(handle, { halfOpen: true, attached: begun !== undefined });
    this.wire = wire;
    wire.receiver = this;
    for (const event of ['error', 'end', 'close'] as const) wire.on(event, this.#onGone);
    wire.resume();
    // Never before the owner has the gate.
    if (begun !== undefined) process.nextTick(() => this.onBytes(begun.bytes, begun.bytes.length));
  }

  /** Reads all bytes so far, and waits, opens or refuses. */
  protected abstract read(content: Buffer): void;

  /** Called when the connection is gone. No reason: it ended before its first byte, or its owner has ended it. */
  protected abstract onEnd(reason: string | undefined): void;

  onBytes(bytes: Buffer, length: number): void {
    if (this.#settled) return;
    this.#bytes.append(bytes, 0, length);
    this.read(this.#bytes.content);
  }

  /** Aborts it; the owner does not wait any more. */
  destroy(): void {
    this.refuse(undefined);
  }

  refuseHead(): void {
    this.refuse('too_many_unfinished');
  }

  override onDeadline(): void {
    this.refuse('timeout');
  }

  /** Waits for more bytes. */
  protected wait(content: Buffer): void {
    this.#heads.hold(this, content.length);
  }

  /** Ends the gate; the connection, which is paused, is the caller's. Returns the milliseconds that the client has used. */
  protected open(): number {
    this.#settle();
    this.wire.pause();
    return this.#wheel.nowMs - this.#startedMs;
  }

  protected refuse(reason: string | undefined): void {
    if (this.#settled) return;
    this.#settle();
    this.wire.destroy();
    this.onEnd(reason);
  }

  readonly #onGone = (): void => this.refuse(this.#bytes.length === 0 ? undefined : 'client_closed');

  #settle(): void {
    this.#settled = true;
    this.#heads.hold(this, 0);
    this.#wheel.remove(this);
    this.wire.receiver = undefined;
    for (const event of ['error', 'end', 'close'] as const) this.wire.off(event, this.#onGone);
  }
}
