// A session without a socket: a test says what arrives and looks at what leaves and at what was heard.

import { errorCode } from '../../src/proxy/http2/error-code.ts';
import { FrameBatcher } from '../../src/proxy/http2/frame-batcher.ts';
import { HpackEncoder } from '../../src/proxy/http2/hpack/encoder.ts';
import { Session } from '../../src/proxy/http2/session.ts';
import type { SessionHost, SessionOptions } from '../../src/proxy/http2/session-core.ts';
import type { Stream, StreamEnd, StreamReceiver } from '../../src/proxy/http2/stream.ts';
import { Wheel } from '../../src/proxy/wheel.ts';
import { type Frame, framesIn } from './http2-frames.ts';
import { ManualClock } from './manual-clock.ts';

export class SessionBed implements SessionHost, StreamReceiver {
  readonly clock = new ManualClock();
  readonly session: Session;
  /** `GET /`, `data 5`, `end`, `reset CANCEL`, in order, with the stream before. */
  readonly heard: string[] = [];
  readonly streams = new Map<number, Stream>();
  /** Answer of the receiver to data. */
  takes = true;
  /** Requests are answered with 204 as soon as they are whole. */
  answers = true;
  failed: string | undefined;
  /** Bytes that the socket reports as buffered. */
  waiting = 0;
  #written: Buffer[] = [];
  #soon: (() => void)[] = [];
  readonly encoder = new HpackEncoder();

  constructor(options: Partial<SessionOptions> = {}) {
    const bed = this;
    const socket = {
      get writableLength() {
        return bed.waiting;
      },
      write: (bytes: Uint8Array) => {
        bed.#written.push(Buffer.from(bytes));
        return true;
      },
    };
    this.session = new Session(socket, this, {
      server: true,
      batcher: new FrameBatcher(
        (act) => this.#soon.push(act),
        () => this.clock.monotonicMs(),
      ),
      wheel: new Wheel(this.clock),
      nowMs: () => this.clock.monotonicMs(),
      limits: () => ({ fieldBytesMax: 0, linesMax: 128 }),
      streamsMax: 128,
      streamWindow: 65_535,
      resetsPerSecond: 100,
      ...options,
    });
  }

  /** Arrives at once, or in parts of `partBytes`; the bytes are overwritten as those of a socket are. */
  arrive(bytes: Buffer, partBytes = bytes.length): void {
    for (let at = 0; at < bytes.length; at += partBytes) {
      const part = Buffer.from(bytes.subarray(at, at + partBytes));
      this.session.read(part, 0, part.length);
      part.fill(0xee);
    }
  }

  /** Runs all pending turns and returns the bytes that left since the last call. */
  written(): Buffer {
    while (this.#soon.length > 0) this.turn();
    return Buffer.concat(this.#written.splice(0));
  }

  /** Runs one turn. */
  turn(): void {
    for (const act of this.#soon.splice(0)) act();
  }

  frames(): Frame[] {
    return framesIn(this.written());
  }

  /** Type and stream of the frames that left, `DATA 1`; those that end streams with `$`. */
  said(): string[] {
    return this.frames().map(({ type, flags, streamId, payload }) => {
      if (type === 'RST_STREAM') return `${type} ${streamId} ${codeName(payload.readUInt32BE())}`;
      if (type === 'GOAWAY') return `${type} ${codeName(payload.readUInt32BE(4))}`;
      const ends = (type === 'DATA' || type === 'HEADERS') && (flags & 1) !== 0 ? '$' : '';
      return type === 'DATA' ? `${type} ${streamId} ${payload.length}${ends}` : `${type} ${streamId}${ends}`;
    });
  }

  stream(id: number): Stream {
    const stream = this.streams.get(id);
    if (stream === undefined) throw new Error(`no stream ${id}`);
    return stream;
  }

  onRequest(stream: Stream): void {
    const { method, path } = stream.fields;
    this.heard.push(`${stream.id} ${method} ${path}`);
    this.streams.set(stream.id, stream);
    stream.receiver = this;
    stream.resume();
  }

  onHead(stream: Stream): void {
    this.heard.push(`${stream.id} ${stream.fields.status}`);
  }

  onData(stream: Stream, chunk: Buffer): boolean {
    this.heard.push(`${stream.id} data ${chunk.length}`);
    return this.takes;
  }

  onEnd(stream: Stream): void {
    this.heard.push(`${stream.id} end`);
    if (!this.answers || stream.fields.method === '') return;
    this.encoder.begin();
    this.encoder.status(204);
    stream.sendHead(this.encoder, true);
  }

  onReset(stream: Stream, { code, untouched }: StreamEnd): void {
    this.heard.push(`${stream.id} reset ${codeName(code)}${untouched ? ' untouched' : ''}`);
  }

  onRoom(stream: Stream): void {
    this.heard.push(`${stream.id} room`);
  }

  onOver(_stream: Stream): void {}
  onStreamGone(): void {}
  onSettings(): void {}
  onEarlyResponse(): void {}
  onHeld(): void {}
  onGoAway(): void {
    this.heard.push('goaway');
  }
  onAlive(): void {}

  onFailed(fault: string): void {
    this.failed = fault;
  }
}

const codeName = (code: number): string =>
  Object.entries(errorCode).find(([, value]) => value === code)?.[0] ?? String(code);
