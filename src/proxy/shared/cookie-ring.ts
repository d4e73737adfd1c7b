// Keys of signed session cookies and counts of what became of the cookies, shared by all threads of a process. Main writes
// keys, threads read them without a lock: an odd version is that of keys which are being written.
import {
  type CookieKey,
  type CookieResult,
  cookieKeyBytes,
  cookieKeysMax,
  cookieResults,
} from '../../model/cookie-keys.ts';

const version = 0;
const length = 1;
const firstCount = 2;
const headCells = firstCount + cookieResults.length;
const headBytes = headCells * Uint32Array.BYTES_PER_ELEMENT;

export class CookieRing {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: Uint32Array;
  readonly #bytes: Uint8Array;

  /** `buffer` is that of main's. */
  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(headBytes + cookieKeysMax * cookieKeyBytes)) {
    this.buffer = buffer;
    this.#cells = new Uint32Array(buffer, 0, headCells);
    this.#bytes = new Uint8Array(buffer, headBytes);
  }

  /** Even; another one whenever the keys are. */
  get version(): number {
    return Atomics.load(this.#cells, version) & ~1;
  }

  /** For main. */
  write(keys: readonly CookieKey[]): void {
    Atomics.add(this.#cells, version, 1);
    const taken = keys.slice(0, cookieKeysMax);
    for (const [place, { key }] of taken.entries()) {
      this.#bytes.set(Buffer.from(key, 'base64').subarray(0, cookieKeyBytes), place * cookieKeyBytes);
    }
    Atomics.store(this.#cells, length, taken.length);
    Atomics.add(this.#cells, version, 1);
  }

  /** Copies, the newest first. Undefined while they are being written. */
  read(): { readonly version: number; readonly keys: readonly Buffer[] } | undefined {
    const before = Atomics.load(this.#cells, version);
    const count = Atomics.load(this.#cells, length);
    const keys = Array.from({ length: count }, (_, place) =>
      Buffer.from(this.#bytes.subarray(place * cookieKeyBytes, (place + 1) * cookieKeyBytes)),
    );
    const isWhole = before % 2 === 0 && Atomics.load(this.#cells, version) === before;
    return isWhole ? { version: before, keys } : undefined;
  }

  count(result: CookieResult): void {
    Atomics.add(this.#cells, firstCount + cookieResults.indexOf(result), 1);
  }

  /** Since the start, of all threads; they begin again at 2³². */
  counts(): Readonly<Record<CookieResult, number>> {
    const entries = cookieResults.map((result, place) => [result, Atomics.load(this.#cells, firstCount + place)]);
    return Object.fromEntries(entries) as Record<CookieResult, number>;
  }
}
