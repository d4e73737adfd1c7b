// What changes a configuration that workers have into the next one, as shared bytes: the JSON text of each entity that is
// new, one after the other, and where it goes. Written once by main, read by every worker. A hundred thousand entities are
// a few numbers and one memory to post, and one changed route among them is one text.
import { type ConfigKind, configKinds, perKind } from '../../model/kinds.ts';
import { edited, editsBetween } from '../../model/list-edits.ts';
import type { Configuration } from '../../model/proxy-config.ts';

export interface PackedEdits {
  /** For each kind, three numbers an edit: its place in the former list, how many go there and how many come. */
  readonly places: Readonly<Record<ConfigKind, readonly number[]>>;
  /** UTF-8, kind by kind in the order of `configKinds`. Longer than what is in it. */
  readonly texts: SharedArrayBuffer;
  /** Where each text ends, as unsigned 32-bit numbers. */
  readonly ends: SharedArrayBuffer;
}

/** Before there was any. */
export const emptyConfiguration: Configuration = perKind(() => []);

/** Entities between two pauses. */
const stride = 32;

/** In steps. An entity whose content is as it was is none of the edits. */
export function* packEdits(former: Configuration, next: Configuration): Generator<void, PackedEdits> {
  const places = perKind<number[]>(() => []);
  const texts = new GrowingText();
  const ends: number[] = [];
  for (const kind of configKinds) {
    for (const { at, removed, inserted } of yield* editsBetween<Entity>(former[kind], next[kind], isSame)) {
      places[kind].push(at, removed.length, inserted.length);
      for (const entity of inserted) {
        ends.push(texts.add(JSON.stringify(entity)));
        if (ends.length % stride === 0) yield;
      }
    }
  }
  const shared = new Uint32Array(new SharedArrayBuffer(ends.length * 4));
  shared.set(ends);
  return { places, texts: texts.buffer, ends: shared.buffer as SharedArrayBuffer };
}

/**
 * The configuration after the edits, in steps. Entities that stay are the same objects as before. What main packed it has
 * checked.
 */
export function* unpackEdits(former: Configuration, packed: PackedEdits): Generator<void, Configuration> {
  const texts = Buffer.from(packed.texts);
  const ends = new Uint32Array(packed.ends);
  const lists = perKind<readonly Entity[]>(() => []);
  let next = 0;
  let from = 0;
  for (const kind of configKinds) {
    const edits = [];
    const numbers = packed.places[kind];
    for (let i = 0; i < numbers.length; i += 3) {
      const [at = 0, removed = 0, count = 0] = numbers.slice(i, i + 3);
      const inserted: Entity[] = [];
      for (let left = count; left > 0; left--) {
        const end = ends[next++] ?? from;
        inserted.push(JSON.parse(texts.toString('utf8', from, end)) as Entity);
        from = end;
        if (next % stride === 0) yield;
      }
      edits.push({ at, removed, inserted });
    }
    lists[kind] = edits.length === 0 ? former[kind] : yield* edited<Entity>(former[kind], edits);
  }
  return lists as unknown as Configuration;
}

interface Entity {
  readonly id: string;
}

const isSame = (one: Entity, other: Entity): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Shared memory that grows as it is written. */
class GrowingText {
  #bytes = Buffer.from(new SharedArrayBuffer(4096));
  #end = 0;

  get buffer(): SharedArrayBuffer {
    return this.#bytes.buffer as unknown as SharedArrayBuffer;
  }

  /** Gives where the text ends. */
  add(text: string): number {
    // No unit of UTF-16 takes more than three bytes.
    const needed = this.#end + 3 * text.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.from(new SharedArrayBuffer(2 * needed));
      larger.set(this.#bytes.subarray(0, this.#end));
      this.#bytes = larger;
    }
    this.#end += this.#bytes.write(text, this.#end);
    return this.#end;
  }
}
