// Guards: every bound on work and memory that the peer of an HTTP/2 connection can cause, each with its reason. A
// peer that exceeds one gets ENHANCE_YOUR_CALM and loses its connection; other connections are not affected.

/** Rate of one connection. `perSecond` come back once those of `burst` are used up. */
export interface TokenRate {
  readonly burst: number;
  readonly perSecond: number;
  /** Largest balance after earning; default: `burst`. */
  readonly earnedMax?: number;
}

export const guards = {
  /** Compressed bytes of one header block: a head may have 1 MiB, and a block without an end has to be ended. */
  blockBytesMax: 1 << 20,
  /** Frames of one header block: 65 full ones hold the largest block, and empty ones cost work for nothing. */
  blockFramesMax: 128,
  /**
   * Names and values of one head with 32 bytes for each: the hard limit that contract.md §2.2 asks for, and no less.
   */
  listBytesMax: 1 << 20,
  /** Fields of one head, each piece of a cookie counted; the listener's limit counts joined cookies. */
  fieldsMax: 2_000,
  /**
   * Bytes and fields beyond which a head is not read to its end, and no later head can be: a byte of a block can
   * stand for 4 KiB.
   */
  cutListBytes: 2 << 20,
  cutFields: 8_000,
  /**
   * Bytes of the heads of all open streams of a connection: a byte on the wire can stand for 4 KiB of a head (HPACK
   * bomb).
   */
  openHeadBytesMax: 2 << 20,
  /** Bytes of heads of requests refused for exceeding that limit: they have been decoded in vain. */
  refusedHeadBytes: { burst: 8 << 20, perSecond: 2 << 20 },
  /** Size of the decoder's dynamic table that Sluice announces; the default of RFC 7541. */
  tableBytes: 4_096,
  /**
   * Requests of one connection that begin in one tick; the others wait for later ticks, and cost nothing when they
   * are reset before. Each costs about 0.05 ms, with a new connection to the upstream 0.1 ms.
   */
  begunPerTick: 8,
  /**
   * Milliseconds of one tick that beginning and ending requests may take, of all connections together: opening or
   * closing a connection to an upstream that sends much takes the kernel 0.1 ms.
   */
  workMsPerTick: 0.5,
  /** Initial stream window below which a client can take no more than a head. */
  tinyWindowBytes: 1_024,
  /**
   * Requests in flight of a client with such windows. Beyond them, `begunPerTick` begin at each look for stalled
   * streams. Each may cost a connection to the upstream, and 64 KiB read from it in vain.
   */
  begunWithTinyWindow: 4,
  /**
   * Streams of a closed connection whose exchanges end in one tick; each costs as much as a beginning where the
   * upstream is in the middle of a response.
   */
  endedPerTick: 8,
  /** Streams that Sluice resets for errors of the peer: as cheap for an attacker as its own resets (MadeYouReset). */
  streamErrors: { burst: 100, perSecond: 100 },
  /** SETTINGS frames. Each is acknowledged; no client needs more than a few at the beginning. */
  settings: { burst: 32, perSecond: 8 },
  /**
   * PING frames. Each is acknowledged. Go's gRPC measures with one per round trip while data comes, so sent DATA
   * earns more.
   */
  pings: { burst: 500, perSecond: 100 },
  pingsPerData: 2,
  /**
   * WINDOW_UPDATE, PRIORITY and unknown frames: they need no answer and cost work. Sent DATA earns more: Go's client
   * opens both windows for each 4 KiB read, others for each kilobyte, and the last 4 MiB long after they were sent.
   */
  idleFrames: { burst: 1_000, perSecond: 500, earnedMax: 20_000 },
  idleFramesPerData: 4,
  bytesPerIdleFrame: 512,
  /** DATA without content, or of padding alone, that does not end its stream. Some clients send one now and then. */
  emptyData: { burst: 100, perSecond: 20 },
  /**
   * DATA of clients below `smallFrameBytes` that does not end its stream: about 3 µs of a thread for a byte. Messages of
   * gRPC and WebSockets are as small, so a connection may send as many as the busiest of those.
   */
  smallData: { burst: 100_000, perSecond: 50_000 },
  /**
   * Sent DATA that a window cuts below `smallFrameBytes`: windows of one byte turn a response into as many frames. The
   * last few bytes of wider windows are used only after a wait in vain (send-threshold.ts), so DATA of `fullFrameBytes`
   * earns one.
   */
  smallFrames: { burst: 500, perSecond: 100 },
  smallFrameBytes: 64,
  fullFrameBytes: 1_024,
  /**
   * Bytes of responses that the client has not read, one tick's share of bodies included: no request begins before
   * the client reads.
   */
  unsentBytesMax: 1 << 20,
  /** Streams without window above which a connection can count as stalled. */
  stalledStreamsMax: 64,
  /** Milliseconds of a stall after which the connection ends. */
  stalledMs: 3_000,
  /**
   * Bytes sent in that time below which it is a stall: windows are zero, or are opened by single bytes, and the
   * client does not read.
   */
  stalledBytesMin: 4_096,
  /** Bytes of interim responses to one request (RFC 9113 §6.5.2); `timeouts` of the destination bound their time. */
  interimBytesMax: 1 << 20,
} as const satisfies Record<string, number | TokenRate>;

/** Token bucket; reads the clock only when the burst is used up. */
export class TokenBucket {
  readonly #allowed: TokenRate;
  readonly #nowMs: () => number;
  #left: number;
  #sinceMs: number;

  /** `nowMs` is monotonic. */
  constructor(allowed: TokenRate, nowMs: () => number) {
    this.#allowed = allowed;
    this.#nowMs = nowMs;
    this.#left = allowed.burst;
    this.#sinceMs = nowMs();
  }

  /** Takes `count` tokens; returns false when there are too few. */
  take(count = 1): boolean {
    if (this.#left < count) this.#refill();
    if (this.#left < count) return false;
    this.#left -= count;
    return true;
  }

  earn(count: number): void {
    this.#left = Math.min(this.#allowed.earnedMax ?? this.#allowed.burst, this.#left + count);
  }

  #refill(): void {
    const { burst, perSecond } = this.#allowed;
    const now = this.#nowMs();
    const earned = Math.floor(((now - this.#sinceMs) * perSecond) / 1_000);
    if (earned === 0) return;
    this.#left = Math.min(burst, this.#left + earned);
    this.#sinceMs = now;
  }
}
