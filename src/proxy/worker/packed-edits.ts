// Edits that turn one configuration of the workers into the next, as shared bytes: id, name and JSON text of each new
// entity, one after the other, and its place. Written once by main, read by every worker. A hundred thousand entities
// are a few numbers and one memory to post, and one changed route among them is one text.
import { type ConfigKind, configKinds, perKind } from '../../model/kinds.ts';
import { edited, editsBetween } from '../../model/list-edits.ts';
import { type Configuration, listOf, type ProxyConfig } from '../../model/proxy-config.ts';
import { PackedRoute } from './packed-route.ts';

export interface PackedEdits {
  /** For each kind, three numbers an edit: its place in the former list, how many go there and how many come. */
  readonly places: Readonly<Record<ConfigKind, readonly number[]>>;
  /** UTF-8, kind by kind in the order of `configKinds`. Longer than what is in it. */
  readonly texts: SharedArrayBuffer;
  /** Offsets at which id, name and text of each end, as unsigned 32-bit numbers; 0 for a name that is the id. */
  readonly ends: SharedArrayBuffer;
}

/** Before there was any. */
export const emptyConfiguration: Configuration = perKind(() => []);

/** Entities between two pauses. */
const stride = 32;

/** In `ends`, of each entity. */
const numbersOfOne = 3;

/**
 * Minimum number of new routes for which they stay text in shared memory until they are read. With fewer, that memory
 * would outlive most of them.
 */
const packedFrom = 1024;

/** In steps. An entity whose content is as it was is none of the edits. `textOf`: see ProxyConfig, of `next`. */
export function* packEdits(
  former: Configuration,
  next: Configuration,
  textOf: ProxyConfig['textOf'] = () => undefined,
): Generator<void, PackedEdits> {
  const places = perKind<number[]>(() => []);
  const texts = new GrowingText();
  const ends: number[] = [];
  for (const kind of configKinds) {
    let shift = 0;
    for (const { at, removed, inserted } of yield* editsBetween<Entity>(
      listOf(former, kind),
      listOf(next, kind),
      isSame,
    )) {
      places[kind].push(at, removed.length, inserted.length);
      const before = texts.length;
      for (const [i, entity] of inserted.entries()) {
        const { id, name } = entity;
        const text = textOf(kind, at + shift + i) ?? JSON.stringify(entity);
        ends.push(texts.add(id), name === id ? 0 : texts.add(name), texts.add(text));
        // So that memory is made once, and not twice as large each time it is full.
        if (i === stride) texts.expect((texts.length - before) * (inserted.length / stride));
        if (ends.length % (numbersOfOne * stride) === 0) yield;
      }
      shift += inserted.length - removed.length;
    }
  }
  const shared = new Uint32Array(new SharedArrayBuffer(ends.length * 4));
  shared.set(ends);
  return { places, texts: texts.buffer, ends: shared.buffer as SharedArrayBuffer };
}

/**
 * The configuration after the edits, in steps. Entities that stay are the same objects as before. What main packed it has
 * checked. `packedMin`: so many new routes stay packed.
 */
export function* unpackEdits(
  former: Configuration,
  packed: PackedEdits,
  packedMin = packedFrom,
): Generator<void, Configuration> {
  const texts = Buffer.from(packed.texts);
  const ends = new Uint32Array(packed.ends);
  const lists = perKind<readonly Entity[]>(() => []);
  let next = 0;
  let from = 0;
  for (const kind of configKinds) {
    const edits = [];
    const numbers = packed.places[kind];
    const staysPacked =
      kind === 'routes' && numbers.reduce((sum, count, at) => sum + (at % 3 === 2 ? count : 0), 0) >= packedMin;
    for (let i = 0; i < numbers.length; i += 3) {
      const [at = 0, removed = 0, count = 0] = numbers.slice(i, i + 3);
      const inserted: Entity[] = [];
      for (let left = count; left > 0; left--) {
        const idEnd = ends[next] ?? from;
        const nameEnd = ends[next + 1] ?? 0;
        const textFrom = Math.max(idEnd, nameEnd);
        const end = ends[next + 2] ?? from;
        next += numbersOfOne;
        if (staysPacked) {
          const id = texts.toString('utf8', from, idEnd);
          const name = nameEnd === 0 ? id : texts.toString('utf8', idEnd, nameEnd);
          inserted.push(new PackedRoute(id, name, texts, textFrom, end));
        } else inserted.push(JSON.parse(texts.toString('utf8', textFrom, end)) as Entity);
        from = end;
        if (next % (numbersOfOne * stride) === 0) yield;
      }
      edits.push({ at, removed, inserted });
    }
    const before = listOf(former, kind);
    lists[kind] = edits.length === 0 ? before : yield* edited<Entity>(before, edits);
  }
  return lists as unknown as Configuration;
}

interface Entity {
  readonly id: string;
  readonly name: string;
}

const isSame = (one: Entity, other: Entity): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Shared memory that grows as it is written. */
class GrowingText {
  #bytes = Buffer.from(new SharedArrayBuffer(4096));
  #end = 0;

  get buffer(): SharedArrayBuffer {
    return this.#bytes.buffer as unknown as SharedArrayBuffer;
  }

  get length(): number {
    return this.#end;
  }

  /** About so many bytes are to come. */
  expect(bytes: number): void {
    this.#makeRoom(Math.ceil(bytes * 1.1));
  }

  /** Appends a text; returns its end. */
  add(text: string): number {
    // No unit of UTF-16 takes more than three bytes.
    if (this.#end + 3 * text.length > this.#bytes.length) this.#makeRoom(this.#end + 6 * text.length);
    this.#end += this.#bytes.write(text, this.#end);
    return this.#end;
  }

  #makeRoom(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) return;
    const larger = Buffer.from(new SharedArrayBuffer(this.#end + bytes));
    larger.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = larger;
  }
}
