// Race between the addresses of a name for the first connection (RFC 8305 §4 and §5): families take turns, an address
// has a head start before the next one is tried beside it, and where it refuses the next one follows at once. The first
// connection wins, the others end.
import type { LookupAddress } from 'node:dns';
import type { Socket } from 'node:net';
import { descriptorBounds, descriptorOf } from '../socket/descriptors.ts';
import { sockets } from '../socket/sockets.ts';
import { Timed, type Wheel } from '../wheel.ts';

/** Called once, one of the two, and not before `begin` has returned. */
export interface RaceOwner {
  onConnected(socket: Socket, address: string): void;
  /** All have failed; with what the first did. */
  onUnreachable(error: NodeJS.ErrnoException): void;
}

export interface RaceOptions {
  readonly port: number;
  /** Milliseconds that an address has to itself; 0: the first two are tried at once. */
  readonly delayMs: number;
  readonly wheel: Wheel;
  /** Makes the sockets that connect; absent: a socket that is discarded once its handle has been taken. */
  readonly newSocket?: () => Socket;
}

export class AddressRace extends Timed {
  readonly #owner: RaceOwner;
  readonly #options: RaceOptions;
  readonly #waiting: LookupAddress[];
  readonly #running = new Set<Socket>();
  #failure: NodeJS.ErrnoException | undefined;

  /** @param addresses at least one, in the order of the system's preference */
  constructor(addresses: readonly LookupAddress[], owner: RaceOwner, options: RaceOptions) {
    super();
    this.#waiting = inTurns(addresses);
    this.#owner = owner;
    this.#options = options;
  }

  begin(): void {
    this.#next();
    if (this.#options.delayMs === 0) this.#next();
  }

  /** Ends the race; no caller waits for it any more. */
  abort(): void {
    this.#waiting.length = 0;
    this.#options.wheel.remove(this);
    for (const socket of this.#running) socket.on('error', () => {}).destroy();
    this.#running.clear();
  }

  override onDeadline(): void {
    this.#next();
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    const { port, delayMs, wheel, newSocket } = this.#options;
    const socket = newSocket?.() ?? sockets.newSocket();
    this.#running.add(socket);
    socket.once('error', (error: NodeJS.ErrnoException) => this.#onError(socket, error));
    socket.once('connect', () => this.#onConnect(socket, next.address));
    socket.connect({ host: next.address, port, autoSelectFamily: false });
    if (this.#waiting.length > 0) wheel.arm(this, Math.max(delayMs, leastDelayMs));
  }

  #onConnect(socket: Socket, address: string): void {
    if (descriptorOf(socket) >= descriptorBounds.upstreams) {
      socket.destroy();
      this.#onError(socket, Object.assign(new Error('too many open files'), { code: 'EMFILE' }));
      return;
    }
    if (!this.#running.delete(socket)) return;
    this.abort();
    socket.removeAllListeners('error');
    this.#owner.onConnected(socket, address);
  }

  #onError(socket: Socket, error: NodeJS.ErrnoException): void {
    if (!this.#running.delete(socket)) return;
    this.#failure ??= error;
    if (this.#waiting.length > 0) this.#next();
    else if (this.#running.size === 0) this.#owner.onUnreachable(this.#failure);
  }
}

/** However little is to pass between two: hosts with many addresses are not asked at all of them at once (RFC 8305 §5). */
const leastDelayMs = 10;

/** The family of the first address, the other one, the first again, and so on; each in the order that it came in. */
function inTurns(addresses: readonly LookupAddress[]): LookupAddress[] {
  const preferred = addresses.filter(({ family }) => family === addresses[0]?.family);
  const others = addresses.filter(({ family }) => family !== addresses[0]?.family);
  const turns: LookupAddress[] = [];
  for (let at = 0; at < Math.max(preferred.length, others.length); at++) {
    for (const address of [preferred[at], others[at]]) if (address !== undefined) turns.push(address);
  }
  return turns;
}
