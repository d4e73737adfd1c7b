// One connection between two nodes, dialled or accepted: handshake first, then messages both ways, sealed where the
// handshake gives keys. Any problem in what arrives closes the connection and nothing else. An empty message is a sign of life: without one for a while the
// connection is closed, because TCP itself would go on waiting for minutes after a partition has healed.
import type { Socket } from 'node:net';
import type { Greeting } from '../codec/greeting.ts';
import { encodeFrames, FrameDecoder, type FrameLimits, frameLimits, type Lane } from '../codec/message-frames.ts';
import type { Cancel, Clock } from '../driver/driver-clock.ts';
import type { HandshakeStep } from './peer-handshake.ts';
import { type RecordKeys, RecordOpener, RecordSealer } from './sealed-records.ts';

export interface ConnectionEvents {
  /** The handshake is done; `send` works from here on. */
  accepted(peer: Greeting): void;
  /** False: the bytes make no sense, and the connection is closed. `isOwn`: their memory has no other user. */
  message(bytes: Uint8Array, isOwn: boolean): boolean;
  /** Called once, for every kind of end. `refused`: one side does not want the other as it is, and will not until an operator acts. */
  closed(reason: string, refused: boolean): void;
}

interface Handshake {
  /** The frame that opens the conversation, from the side that dials. */
  hello?(): Uint8Array;
  take(bytes: Uint8Array): HandshakeStep;
}

const handshakeLimits: FrameLimits = { frameBytesMax: 8 * 1024, messageBytesMax: 7 * 1024 };
const handshakeWithinMs = 2_000;
const signOfLifeMs = 500;
const silenceMs = 2_500;
const lingerMs = 500;
/** So many bytes of frames leave together; one fragment of bulk may be more. */
const batchBytes = 64 * 1024;
const signOfLife = encodeFrames(new Uint8Array(0), 'urgent');

export class TcpConnection {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #events: ConnectionEvents;
  #decoder = new FrameDecoder(handshakeLimits);
  #sealer: RecordSealer | undefined;
  #opener: RecordOpener | undefined;
  #handshake: Handshake | undefined;
  #timer: Cancel;
  #ended = false;
  #blocked = false;
  #sentSinceTick = true;
  #heardAt: number;
  #tickedAt: number;

  constructor(socket: Socket, handshake: Handshake, clock: Clock, events: ConnectionEvents) {
    this.#socket = socket;
    this.#handshake = handshake;
    this.#clock = clock;
    this.#events = events;
    this.#heardAt = this.#tickedAt = clock.monotonicMs();
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('drain', () => {
      this.#blocked = false;
    });
    socket.on('error', (error) => this.close(error.message));
    socket.on('close', () => {
      this.close('closed by the peer');
      this.#timer();
    });
    this.#timer = clock.after(handshakeWithinMs, () => this.close('no handshake in time'));
    const hello = handshake.hello?.();
    if (hello !== undefined) this.#write(encodeFrames(hello, 'urgent'));
  }

  /** Calls `pump` whenever more can be written. */
  onDrain(pump: () => void): void {
    this.#socket.on('drain', pump);
  }

  /** Writes what `take` gives, frames that belong together, until the socket has enough or there is no more. */
  send(take: () => readonly Uint8Array[] | undefined): void {
    if (this.#ended || this.#blocked) return;
    this.#socket.cork();
    for (let frames = batchOf(take); frames.length > 0; frames = batchOf(take)) {
      this.#write(frames);
      if (this.#blocked) break;
    }
    this.#socket.uncork();
  }

  /** Ends the connection. Bytes that were written before still leave, as far as the peer takes it at once. */
  close(reason: string, refused = false): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#timer();
    this.#socket.destroySoon();
    this.#timer = this.#clock.after(lingerMs, () => this.#socket.destroy());
    this.#events.closed(reason, refused);
  }

  #write(frames: readonly Uint8Array[]): void {
    this.#sentSinceTick = true;
    const written = this.#sealer === undefined ? frames : this.#sealer.seal(frames);
    for (const bytes of written) this.#blocked = !this.#socket.write(bytes);
  }

  #receive(chunk: Buffer): void {
    this.#heardAt = this.#clock.monotonicMs();
    const problem = this.#opener === undefined ? this.#decode(chunk) : this.#opener.push(chunk, this.#decode);
    if (problem !== undefined) this.close(problem, true);
  }

  readonly #decode = (bytes: Buffer): string | undefined => {
    const decoder = this.#decoder;
    const problem = decoder.push(bytes, this.#deliver);
    // The handshake has just ended in it: what lies behind is sealed.
    const isSealed = decoder !== this.#decoder && this.#opener !== undefined;
    return isSealed ? (problem ?? this.#opener?.push(decoder.rest, this.#decode)) : problem;
  };

  readonly #deliver = (bytes: Uint8Array, _: Lane, isOwn: boolean): void => this.#take(bytes, isOwn);

  #take(bytes: Uint8Array, isOwn: boolean): void {
    if (this.#ended) return;
    if (this.#handshake !== undefined) this.#advance(this.#handshake.take(bytes));
    else if (bytes.length > 0 && !this.#events.message(bytes, isOwn)) this.close('malformed message', true);
  }

  #advance({ send, accepted, keys, refused }: HandshakeStep): void {
    if (send !== undefined) this.#write(encodeFrames(send, 'urgent'));
    if (refused !== undefined) {
      this.close(refused, true);
      return;
    }
    if (accepted === undefined) return;
    this.#handshake = undefined;
    if (keys === undefined) this.#decoder.setLimits(frameLimits);
    else this.#seal(keys);
    this.#timer();
    this.#tick();
    this.#events.accepted(accepted);
  }

  #seal({ send, receive }: RecordKeys): void {
    this.#sealer = new RecordSealer(send);
    this.#opener = new RecordOpener(receive);
    this.#decoder.halt();
    this.#decoder = new FrameDecoder(frameLimits);
  }

  #tick(): void {
    const now = this.#clock.monotonicMs();
    // After a pause of this process the silence is its own: what the peer sent is still waiting to be read.
    if (now - this.#tickedAt > 3 * signOfLifeMs) this.#heardAt = now;
    this.#tickedAt = now;
    if (now - this.#heardAt > silenceMs) {
      this.close('the peer is silent');
      return;
    }
    if (!this.#sentSinceTick && !this.#blocked) this.#write(signOfLife);
    this.#sentSinceTick = false;
    this.#timer = this.#clock.after(signOfLifeMs, () => this.#tick());
  }
}

/** Frames that leave next, up to about `batchBytes`. Those that `take` gives together stay together. */
function batchOf(take: () => readonly Uint8Array[] | undefined): readonly Uint8Array[] {
  const first = take() ?? [];
  let bytes = lengthOf(first);
  if (bytes === 0 || bytes >= batchBytes) return first;
  const batch = [...first];
  for (let frames = take(); frames !== undefined; frames = take()) {
    batch.push(...frames);
    bytes += lengthOf(frames);
    if (bytes >= batchBytes) break;
  }
  return batch;
}

function lengthOf(frames: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const { length } of frames) bytes += length;
  return bytes;
}
