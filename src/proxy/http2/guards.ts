// Every bound on what the other side of an HTTP/2 connection may make Sluice do or keep, each with its reason. Whoever
// goes beyond is told ENHANCE_YOUR_CALM and its connection ends; other connections do not notice.

/** Per connection. `perSecond` come back once those of `burst` are used up. */
export interface Allowed {
  readonly burst: number;
  readonly perSecond: number;
  /** The most that can be left when more is earned; default: `burst`. */
  readonly earnedMax?: number;
}

export const guards = {
  /** Compressed bytes of one header block: a head may have 1 MiB, and somebody has to end a block that has no end. */
  blockBytesMax: 1 << 20,
  /** Frames of one header block; 65 full ones hold all it may have, and empty ones cost work for nothing. */
  blockFramesMax: 128,
  /** Names and values of one head with 32 bytes for each: the hard limit that contract.md §2.2 asks for, and no less. */
  listBytesMax: 1 << 20,
  /** Fields of one head with each piece of a cookie by itself; the listener's limit counts joined ones. */
  fieldsMax: 2_000,
  /** Beyond these a head is not even read to its end, and nothing after it can be: a byte of a block can stand for 4 KiB. */
  cutListBytes: 2 << 20,
  cutFields: 8_000,
  /** Heads of all open streams of a connection: a byte on the wire can stand for 4 KiB of a head (HPACK bomb). */
  openHeadBytesMax: 2 << 20,
  /** Bytes of heads of requests that are refused for being beyond that: they have been unpacked in vain. */
  refusedHeadBytes: { burst: 8 << 20, perSecond: 2 << 20 },
  /** What the other side may have us remember to decode its heads. The default of RFC 7541. */
  tableBytes: 4_096,
  /**
   * Requests that a connection begins in one turn of the loop; those beyond wait for the next ones, and cost nothing when
   * they are reset meanwhile. Each is about 0.05 ms, with a new connection to the upstream 0.1.
   */
  begunPerTurn: 8,
  /**
   * … and milliseconds, after which those begun or ended in one turn have taken enough of it, of all connections together:
   * to open or close a connection to an upstream that sends much takes the system 0.1 each.
   */
  workMsPerTurn: 0.5,
  /** A client whose streams begin with less of a window than this can take no more than a head … */
  tinyWindowBytes: 1_024,
  /**
   * … and has so many requests under way: of more, as many as begin in a turn begin at each look for stalled streams. Each may
   * cost a connection to the upstream, and 64 KiB read from it in vain.
   */
  begunWithTinyWindow: 4,
  /** Streams of a connection that has gone whose exchanges end in one turn; as dear, where the upstream is in the middle. */
  endedPerTurn: 8,
  /** Streams reset by us because of what came: as cheap for an attacker as its own resets (MadeYouReset). */
  streamErrors: { burst: 100, perSecond: 100 },
  /** Each is answered; a few at the beginning are all that anybody needs. */
  settings: { burst: 32, perSecond: 8 },
  /** Each is answered. Go's gRPC measures with one per round trip as long as data comes, so DATA sent earns more. */
  pings: { burst: 500, perSecond: 100 },
  pingsPerData: 2,
  /**
   * WINDOW_UPDATE, PRIORITY and unknown frames: nothing to answer, but work. DATA sent earns more: Go's client opens both
   * windows for each 4 KiB that are read, others for each kilobyte, and the last 4 MiB long after they were sent.
   */
  idleFrames: { burst: 1_000, perSecond: 500, earnedMax: 20_000 },
  idleFramesPerData: 4,
  bytesPerIdleFrame: 512,
  /** DATA without a byte, or of padding alone, that does not end its stream. Some clients send one now and then. */
  emptyData: { burst: 100, perSecond: 20 },
  /**
   * DATA of clients below `crumbBytes` that does not end its stream: about 3 µs of a thread for a byte. Messages of gRPC and
   * WebSockets are as small, so a connection may have as many as the busiest of those sends.
   */
  smallData: { burst: 100_000, perSecond: 50_000 },
  /**
   * DATA of ours cut below `crumbBytes` by a window: windows of a byte turn a response into as many frames. Of wider ones
   * the last few bytes are used only after a wait in vain (send-threshold.ts); so DATA of `loafBytes` earns one.
   */
  crumbs: { burst: 500, perSecond: 100 },
  crumbBytes: 64,
  loafBytes: 1_024,
  /** Bytes of answers that the client has not read, with bodies of one turn among them: no request begins before it reads. */
  unsentBytesMax: 1 << 20,
  /** More streams than this that cannot send for want of window … */
  stalledStreamsMax: 64,
  /** … for so long, milliseconds … */
  stalledMs: 3_000,
  /** … while less than this went out in all: windows of nothing, or opened by single bytes. Nobody reads there. */
  stalledBytesMin: 4_096,
  /** Interim responses to one request. */
  interimMax: 100,
} as const satisfies Record<string, number | Allowed>;

/** How often something may happen: looks at the time only when the burst is used up. */
export class Allowance {
  readonly #allowed: Allowed;
  readonly #nowMs: () => number;
  #left: number;
  #sinceMs: number;

  /** `nowMs` is monotonic. */
  constructor(allowed: Allowed, nowMs: () => number) {
    this.#allowed = allowed;
    this.#nowMs = nowMs;
    this.#left = allowed.burst;
    this.#sinceMs = nowMs();
  }

  /** False: too often. */
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
