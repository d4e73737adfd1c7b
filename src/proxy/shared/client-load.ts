// Clients as the threads of a process count them together: connections and bytes of request heads that are not whole,
// each with a sum and a number per thread that main takes back when the thread has ended.

/** Limits that close a connection when it comes. */
const connectionLimits = ['listener', 'process', 'descriptors'] as const;
export type ConnectionLimit = (typeof connectionLimits)[number];

const connections = 0;
const headBytes = 1;
const refusedHeads = 2;
const refused = 3;
const sums = refused + connectionLimits.length;
const perThread = 2;

export interface ClientFigures {
  readonly connections: number;
  readonly headBytes: number;
  readonly refusedHeads: number;
  readonly refused: Readonly<Record<ConnectionLimit, number>>;
}

export class ClientLoad {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: Int32Array;
  readonly #own: number;

  static memory(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer((sums + perThread * threads) * 4);
  }

  /** `place` is that of the thread that counts. */
  constructor(buffer: SharedArrayBuffer, place: number) {
    this.buffer = buffer;
    this.#cells = new Int32Array(buffer);
    this.#own = sums + perThread * place;
  }

  /** Counts one more connection, unless the process has `max` already. */
  open(max: number): boolean {
    if (Atomics.add(this.#cells, connections, 1) >= max) {
      Atomics.sub(this.#cells, connections, 1);
      return false;
    }
    this.#countOwn(connections, 1);
    return true;
  }

  /** Counts connections that are open already, or takes back as many when negative. */
  add(count: number): void {
    Atomics.add(this.#cells, connections, count);
    this.#countOwn(connections, count);
  }

  addHeadBytes(count: number): void {
    Atomics.add(this.#cells, headBytes, count);
    this.#countOwn(headBytes, count);
  }

  /** In the whole process. */
  get headBytes(): number {
    return Atomics.load(this.#cells, headBytes);
  }

  refuse(limit: ConnectionLimit): void {
    Atomics.add(this.#cells, refused + connectionLimits.indexOf(limit), 1);
  }

  refuseHead(): void {
    Atomics.add(this.#cells, refusedHeads, 1);
  }

  figures(): ClientFigures {
    const at = (cell: number): number => Atomics.load(this.#cells, cell);
    const [listener, process, descriptors] = connectionLimits.map((_, place) => at(refused + place));
    return {
      connections: at(connections),
      headBytes: at(headBytes),
      refusedHeads: at(refusedHeads),
      refused: { listener: listener ?? 0, process: process ?? 0, descriptors: descriptors ?? 0 },
    };
  }

  /** Takes back what the thread at `place` held. */
  forget(place: number): void {
    for (const cell of [connections, headBytes]) {
      const held = Atomics.exchange(this.#cells, sums + perThread * place + cell, 0);
      Atomics.sub(this.#cells, cell, held);
    }
  }

  /** No other thread changes these before this one has ended. */
  #countOwn(cell: number, by: number): void {
    this.#cells[this.#own + cell] = (this.#cells[this.#own + cell] ?? 0) + by;
  }
}
