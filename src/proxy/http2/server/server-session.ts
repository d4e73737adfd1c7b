// HTTP/2 connection of a client (RFC 9113): its session reads and writes, its streams respond; timeouts and the end
// of the connection are decided here. A drain sends two GOAWAYs: the first announces the end, the second names the
// last stream (RFC 9113 §6.8).
import type { ExchangeContext } from '../../exchange/exchange-context.ts';
import { ResponseLimit } from '../../exchange/response-limit.ts';
import type { FieldLines } from '../../fields/field-lines.ts';
import type { DownstreamAddress } from '../../message/request.ts';
import { Sender } from '../../message/sender.ts';
import type { ByteSocket, SocketReceiver } from '../../socket/byte-socket.ts';
import { Lingering, lingerMs } from '../../socket/lingering.ts';
import type { Security } from '../../socket/security.ts';
import { Deadline, Timed } from '../../wheel.ts';
import { resetAfterMs } from '../early-response-resets.ts';
import { errorCode } from '../error-code.ts';
import { defaultWindow } from '../frame.ts';
import { threadBatcher } from '../frame-batcher.ts';
import { Session } from '../session.ts';
import type { SessionHost } from '../session-core.ts';
import type { Stream } from '../stream.ts';
import { ServerStream, type ServerStreamOwner } from './server-stream.ts';

/** Milliseconds between the two GOAWAYs, in which streams that crossed the first one arrive. */
const crossingMs = 1_000;
/** Streams, with their exchanges, kept for later ones. */
const freeStreamsMax = 32;
/** Milliseconds between two looks at a connection with streams that cannot send. */
const stallLookMs = 500;

/** `open`: streams come and go. `linger`: received bytes are dropped. `over`: closed. */
type Phase = 'open' | 'linger' | 'over';

export class Http2Connection extends Timed implements SessionHost, ServerStreamOwner, SocketReceiver {
  readonly security: Security | undefined;
  readonly #socket: ByteSocket;
  readonly #context: ExchangeContext;
  readonly #onOver: (connection: Http2Connection) => void;
  readonly #session: Session;
  readonly #sender: Sender;
  #lingering: Lingering | undefined;
  readonly #free: ServerStream[] = [];
  readonly #streams = new Set<ServerStream>();
  readonly #stallLook: Deadline;
  readonly #secondGoAway: Deadline;
  readonly #lateReset: Deadline;
  /** Limit of bytes that the socket does not take, of all streams; made when it is needed. */
  #unsentLimit: ResponseLimit | undefined;
  #phase: Phase = 'open';
  #draining = false;
  /** True while a preface, frame or block has begun and is not whole. */
  #awaiting = true;
  headBytes = 0;

  /** `spentMs` of the client's time for its first bytes have passed. */
  constructor(
    socket: ByteSocket,
    context: ExchangeContext,
    onOver: (connection: Http2Connection) => void,
    spentMs = 0,
  ) {
    super();
    this.#socket = socket;
    this.security = socket.security;
    this.#context = context;
    this.#onOver = onOver;
    this.#sender = new Sender(socket);
    this.#stallLook = new Deadline(() => this.#lookForStall());
    this.#secondGoAway = new Deadline(() => this.#endAfterThese());
    this.#lateReset = new Deadline(() => this.#resetEarlyResponses());
    const { clientHeaderMs, streamsMax, resetsPerSecond } = context.settings();
    this.#session = new Session(socket, this, {
      server: true,
      batcher: threadBatcher,
      wheel: context.wheel,
      nowMs: () => context.clock.monotonicMs(),
      limits: () => context.settings().headLimits,
      streamsMax,
      streamWindow: defaultWindow,
      resetsPerSecond,
    });
    socket.receiver = this;
    socket.on('blocked', () => this.#onUnsent());
    socket.on('drain', () => {
      this.#unsentLimit?.onRoom();
      this.#session.onDrain();
    });
    socket.on('end', () => this.#onEnd());
    socket.on('error', () => this.#over());
    socket.on('close', () => this.#over());
    socket.resume();
    if (clientHeaderMs > 0) context.wheel.arm(this, Math.max(1, clientHeaderMs - spentMs));
  }

  /** Always false: a drain ends the connection itself, and no stream is lost. */
  get idle(): boolean {
    return false;
  }

  get unwritable(): boolean {
    return this.#session.congested;
  }

  get #busy(): boolean {
    return this.#streams.size > 0 || this.#session.requestsWait;
  }

  drain(): void {
    if (this.#draining || this.#phase !== 'open') return;
    this.#draining = true;
    this.#session.announceEnd();
    this.#context.wheel.arm(this.#secondGoAway, crossingMs);
  }

  destroy(): void {
    this.#socket.destroy();
    this.#over();
  }

  senderOf(lines: FieldLines): DownstreamAddress {
    return this.#sender.of(lines, this.#context.settings().trusted);
  }

  onBytes(bytes: Buffer, length: number): void {
    if (this.#phase !== 'open') return;
    this.#session.read(bytes, 0, length);
    if (this.#phase !== 'open') return;
    this.#rearm();
    this.#countHead();
  }

  /** Ends the connection, which takes nothing else until its header block is whole. */
  refuseHead(): void {
    this.#session.fail(errorCode.calm, 'the header blocks of all connections are too large');
  }

  #countHead(): void {
    const bytes = this.#awaiting && this.#phase === 'open' ? this.#session.unfinishedBytes : 0;
    if (bytes !== this.headBytes) this.#context.heads.hold(this, bytes);
  }

  onBlocked(): void {
    if (this.#stallLook.after === undefined) this.#lookLater();
  }

  onHeld(): void {
    this.onBlocked();
  }

  onStreamOver(stream: ServerStream): void {
    if (this.#streams.delete(stream) && this.#free.length < freeStreamsMax) this.#free.push(stream);
    this.onStreamGone();
  }

  // Callbacks of the session.

  onRequest(stream: Stream): void {
    const served = this.#free.pop() ?? new ServerStream(this, this.#context);
    this.#streams.add(served);
    served.begin(stream);
  }

  onEarlyResponse(): void {
    if (this.#lateReset.after === undefined) this.#context.wheel.arm(this.#lateReset, resetAfterMs);
  }

  onStreamGone(): void {
    if (this.#busy || this.#phase !== 'open') return;
    if (this.#session.closing) this.#lingeringClose();
    else this.#rearm();
  }

  onSettings(): void {}
  onAlive(): void {}

  /** Ends the connection after its streams: the client opens no more. */
  onGoAway(): void {
    this.#session.endAfterThese();
    if (!this.#busy) this.#lingeringClose();
  }

  onFailed(_problem: string): void {
    this.#lingeringClose();
  }

  override onDeadline(): void {
    if (this.#phase === 'linger') {
      if (this.#lingering?.lingersOn() === true) this.#context.wheel.arm(this, lingerMs);
      else this.destroy();
    } else if (this.#awaiting) this.destroy();
    else if (!this.#busy) this.#session.fail(errorCode.none, 'idle');
  }

  #onUnsent(): void {
    if (this.#phase === 'over') return;
    this.#unsentLimit ??= new ResponseLimit(
      this.#context,
      () => this.#socket.writableLength,
      () => this.#onUnsentOverdue(),
    );
    this.#unsentLimit.onUnsent();
  }

  /** Tunnels may be as slow as they like, and unsent bytes may be theirs. */
  #onUnsentOverdue(): void {
    for (const { isTunnel } of this.#streams) {
      if (!isTunnel) continue;
      this.#unsentLimit?.onUnsent();
      return;
    }
    this.destroy();
  }

  /** Arms the deadline of what has begun and is not whole, or that of an idle connection. */
  #rearm(): void {
    const { wheel, settings } = this.#context;
    const { clientHeaderMs, idleMs } = settings();
    const awaiting = !this.#session.atRest;
    if (awaiting) {
      if (!this.#awaiting && clientHeaderMs > 0) wheel.arm(this, clientHeaderMs);
    } else if (!this.#busy && idleMs > 0) wheel.arm(this, idleMs);
    else wheel.disarm(this);
    this.#awaiting = awaiting;
  }

  #endAfterThese(): void {
    if (this.#phase !== 'open') return;
    this.#session.endAfterThese();
    if (!this.#busy) this.#lingeringClose();
  }

  #resetEarlyResponses(): void {
    this.#session.resetEarlyResponses(Number.POSITIVE_INFINITY);
    if (this.#session.earlyResponses.size > 0) this.#context.wheel.arm(this.#lateReset, resetAfterMs);
  }

  #lookLater(): void {
    this.#context.wheel.arm(this.#stallLook, stallLookMs);
  }

  #lookForStall(): void {
    if (this.#phase !== 'open') return;
    this.#session.checkStall();
    if (this.#phase === 'open' && this.#session.stalled > 0) this.#lookLater();
  }

  /** Reads and drops received bytes for a while: closing with bytes unread would reset the connection. */
  #lingeringClose(): void {
    if (this.#phase !== 'open') return;
    this.#phase = 'linger';
    this.#countHead();
    this.#lingering ??= new Lingering(this.#socket);
    this.#session.resetEarlyResponses(0);
    this.#session.flush();
    this.#context.wheel.remove(this.#lateReset);
    this.#context.wheel.remove(this.#stallLook);
    this.#context.wheel.remove(this.#secondGoAway);
    this.#socket.end();
    this.#context.wheel.arm(this, lingerMs);
  }

  /** Handles FIN as the client's end: HTTP/2 has no half-closed connections. */
  #onEnd(): void {
    this.#session.lost('the client has gone');
    this.#socket.destroySoon();
  }

  #over(): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    this.#countHead();
    this.#session.lost('the client has gone');
    this.#unsentLimit?.close();
    this.#context.wheel.remove(this);
    this.#context.wheel.remove(this.#stallLook);
    this.#context.wheel.remove(this.#lateReset);
    this.#context.wheel.remove(this.#secondGoAway);
    this.#onOver(this);
  }
}
