// Entities as shared bytes: the JSON text of each, one after the other, and its hash. Written once by main, read by every
// worker. Nothing of it is an object, so that posting a hundred thousand entities costs what posting one does; and who packs
// keeps the place of each, so that an entity that is packed again is copied and neither written nor hashed.
import { createHash } from 'node:crypto';
import { type ConfigKind, configKinds, perKind } from '../../model/kinds.ts';
import type { Configuration } from '../../model/proxy-config.ts';

export interface PackedEntities {
  /** Kind by kind; the lists follow one another in the order of `configKinds`. */
  readonly counts: Readonly<Record<ConfigKind, number>>;
  readonly texts: SharedArrayBuffer;
  /** Where each text ends, as unsigned 32-bit numbers. */
  readonly ends: SharedArrayBuffer;
  /** SHA-256 of each text: the same text has the same hash. */
  readonly hashes: SharedArrayBuffer;
}

const hashBytes = 32;
/** Entities between two pauses. */
const stride = 32;

/** An entity that was packed before. */
interface Place {
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

export class EntityPacker {
  #known: ReadonlyMap<object, Place> = new Map();
  #texts: Uint8Array = new Uint8Array();
  #hashes: Uint8Array = new Uint8Array();

  /** In steps; between two of them other work may be done, but no other packing. */
  *pack(configuration: Configuration): Generator<void, PackedEntities> {
    const entities: readonly object[] = configKinds.flatMap((kind): readonly object[] => configuration[kind]);
    yield;
    const fresh = new Map<object, Buffer>();
    let length = 0;
    for (const [at, entity] of entities.entries()) {
      length += this.#lengthOf(entity, fresh);
      if (at % stride === 0) yield;
    }
    const texts = new Uint8Array(new SharedArrayBuffer(length));
    const ends = new Uint32Array(new SharedArrayBuffer(entities.length * 4));
    const hashes = new Uint8Array(new SharedArrayBuffer(entities.length * hashBytes));
    const known = new Map<object, Place>();
    let from = 0;
    for (const [at, entity] of entities.entries()) {
      const text = fresh.get(entity);
      const to = from + (text === undefined ? this.#copy(entity, texts, from, hashes, at) : text.length);
      if (text !== undefined) {
        texts.set(text, from);
        hashes.set(createHash('sha256').update(text).digest(), at * hashBytes);
      }
      ends[at] = to;
      known.set(entity, { from, to, at });
      from = to;
      if (at % stride === 0) yield;
    }
    this.#known = known;
    this.#texts = texts;
    this.#hashes = hashes;
    const counts = perKind((kind) => configuration[kind].length);
    return { counts, texts: bufferOf(texts), ends: bufferOf(ends), hashes: bufferOf(hashes) };
  }

  #lengthOf(entity: object, fresh: Map<object, Buffer>): number {
    const place = this.#known.get(entity);
    if (place !== undefined) return place.to - place.from;
    const text = fresh.get(entity) ?? Buffer.from(JSON.stringify(entity), 'utf8');
    fresh.set(entity, text);
    return text.length;
  }

  /** Gives the length of the text. */
  #copy(entity: object, texts: Uint8Array, from: number, hashes: Uint8Array, at: number): number {
    const place = this.#known.get(entity);
    if (place === undefined) throw new Error('an entity is neither new nor known');
    texts.set(this.#texts.subarray(place.from, place.to), from);
    hashes.set(this.#hashes.subarray(place.at * hashBytes, (place.at + 1) * hashBytes), at * hashBytes);
    return place.to - place.from;
  }
}

const bufferOf = (view: Uint8Array | Uint32Array): SharedArrayBuffer => view.buffer as SharedArrayBuffer;

/** One list after the other, each entity by its hash and, for who does not know that, its text. */
export class EntityUnpacker {
  readonly #texts: Buffer;
  readonly #ends: Uint32Array;
  readonly #hashes: Buffer;

  constructor({ texts, ends, hashes }: PackedEntities) {
    this.#texts = Buffer.from(texts);
    this.#ends = new Uint32Array(ends);
    this.#hashes = Buffer.from(hashes);
  }

  hash(at: number): string {
    return this.#hashes.toString('latin1', at * hashBytes, (at + 1) * hashBytes);
  }

  text(at: number): string {
    return this.#texts.toString('utf8', at === 0 ? 0 : this.#ends[at - 1], this.#ends[at]);
  }
}
