// The state hash: the digests of all rows added up modulo 2^64, so that the order of writing does not matter and a change
// costs one subtraction and one addition. Equal on all nodes at equal applied index (raft.md A17), those of an earlier version
// among them: times of secrets do not count.
import { createHash, type Hash, hash } from 'node:crypto';
import type { RoundRows } from './round-rows.ts';
import { keys } from './row-keys.ts';
import { agreedRow } from './stored-entity.ts';

/** Content of a row, plain; a text stands for its bytes in UTF-8. */
export type RowBody = Buffer | string;

/** 64 bits of a row: its key and its plain body. */
export interface RowDigests {
  of(key: string, body: Uint8Array | string): bigint;
  /** The hash of which these are the first 64 bits, before it has seen anything of the body. */
  begun(key: string): Hash;
}

export const bytesOf = <Bytes extends Uint8Array>(body: Bytes | string): Bytes | Buffer =>
  typeof body === 'string' ? Buffer.from(body) : body;

interface HashedRow {
  readonly key: string;
  readonly index: number;
  readonly body: RowBody | undefined;
  /** Its content was never in the store before. */
  readonly isNew: boolean;
  readonly digest: bigint;
}

export const plainDigests: RowDigests = {
  of: (key, body) =>
    body.length > copiedMax
      ? plainDigests.begun(key).update(body).digest().readBigUInt64BE()
      : first64(hash('sha256', typeof body === 'string' ? `${key}\0${body}` : behind(key, body))),
  begun: (key) => createHash('sha256').update(`${key}\0`),
};

/** Computes the digest of a long body in steps, each too short to be noticed. */
function* digestInSteps(digests: RowDigests, key: string, body: Uint8Array): Generator<void, bigint> {
  const hash = digests.begun(key);
  for (let from = 0; from < body.length; from += stepBytes) {
    hash.update(body.subarray(from, from + stepBytes));
    yield;
  }
  return hash.digest().readBigUInt64BE();
}

const stepBytes = 1024 * 1024;

const isLong = (body: RowBody | undefined): body is Buffer => Buffer.isBuffer(body) && body.length > stepBytes;

const behind = (key: string, body: Uint8Array): Buffer => Buffer.concat([Buffer.from(`${key}\0`), body]);

/** Reads the first sixteen hex digits as a number: cheaper than a buffer for each digest. */
const first64 = (hex: string): bigint => BigInt(`0x${hex.slice(0, 16)}`);

/** Longest body that is copied behind its key; for longer ones three calls cost less than the copy. */
const copiedMax = 64 * 1024;

/** Start of the keys of secrets. */
const secrets = keys.entity('secrets', '');

export class StateHash {
  readonly #digests: RowDigests;
  readonly #known = new Map<string, bigint>();
  #sum = 0n;

  constructor(digests: RowDigests) {
    this.#digests = digests;
  }

  /** 16 hex digits. */
  get text(): string {
    return this.#sum.toString(16).padStart(16, '0');
  }

  /**
   * Takes the rows of one round in, and gives them with their digests; the last one is the row of the hash itself.
   * Yields after each row. To be run to its end.
   */
  *fold(rows: RoundRows, last: number): Generator<void, HashedRow[]> {
    const hashed: HashedRow[] = [];
    for (const [key, { text, index, isNew }] of rows.entries()) {
      const body = typeof text === 'function' ? yield* text() : text;
      const digest = isLong(body) ? yield* digestInSteps(this.#digests, key, body) : this.#digestOf(key, body);
      if (body === undefined) this.#add(key, undefined);
      else this.add({ key, body, digest });
      hashed.push({ key, index, body, isNew, digest });
      yield;
    }
    const body = this.text;
    hashed.push({ key: keys.hash, index: last, body, isNew: false, digest: this.#digests.of(keys.hash, body) });
    return hashed;
  }

  #digestOf(key: string, body: RowBody | undefined): bigint {
    return body === undefined ? 0n : this.#digests.of(key, body);
  }

  /** Takes one row in. */
  add({ key, body, digest }: { readonly key: string; readonly body: RowBody; readonly digest: bigint }): void {
    const agreed = key.startsWith(secrets) ? agreedRow(body) : body;
    this.#add(key, agreed === body ? digest : this.#digests.of(key, agreed));
  }

  /** Takes one row in, or out when it has no digest. */
  #add(key: string, digest: bigint | undefined): void {
    const changed = this.#sum - (this.#known.get(key) ?? 0n) + (digest ?? 0n);
    this.#sum = BigInt.asUintN(64, changed);
    if (digest === undefined) this.#known.delete(key);
    else this.#known.set(key, digest);
  }
}
