// A snapshot is one row, put together from texts that exist already: a head, then one line `<revision> <id> <json>` for
// each entity. JSON.stringify never writes a line break, so lines need no escaping, and ten thousand routes cost a join.
import { type ConfigKind, configKinds, isWritten, type OptionalKind, perKind } from '../model/kinds.ts';
import type { Maintained } from './command.ts';
import { Entity } from './stored-entity.ts';
import type { Stored, StoredSnapshot } from './view.ts';

interface Head extends Maintained {
  readonly name: string;
  readonly revision: number;
  readonly createdAt: string;
  readonly values: Readonly<Record<string, string>>;
  /** An optional kind without entities is left out. */
  readonly counts: Readonly<Record<Exclude<ConfigKind, OptionalKind>, number> & Partial<Record<OptionalKind, number>>>;
}

/**
 * Gives the entity of this version, the one that is in memory already if there is one, so that snapshots share what they
 * have in common. `make` makes it.
 */
export type Intern = (kind: ConfigKind, id: string, revision: number, make: () => Entity) => Stored;

/** UTF-8 of the row, in steps: memory of its size is made once, and filled a little at a time. */
export function* snapshotBytes(snapshot: StoredSnapshot): Generator<void, Buffer> {
  const { name, owner, labels, revision, createdAt, values, entities } = snapshot;
  const written = configKinds.filter((kind) => isWritten(kind, entities[kind]));
  const counts = Object.fromEntries(written.map((kind) => [kind, entities[kind].length]));
  const head = JSON.stringify({ name, owner, labels, revision, createdAt, values, counts });
  const all = configKinds.flatMap((kind) => entities[kind]);
  let length = Buffer.byteLength(head);
  for (const [at, entity] of all.entries()) {
    length += 1 + Buffer.byteLength(lineOf(entity));
    if (at % stride === 0) yield;
  }
  const bytes = Buffer.allocUnsafe(length);
  let end = bytes.write(head);
  for (const [at, entity] of all.entries()) {
    end += bytes.write(`\n${lineOf(entity)}`, end);
    if (at % stride === 0) yield;
  }
  return bytes;
}

/** Entities between two pauses. */
const stride = 64;

const lineOf = ({ revision, id, json }: Stored): string => `${revision} ${id} ${json}`;

/**
 * A snapshot from its row, in steps. Nothing of it is made text but what `intern` asks for: a part of a long text would keep
 * all of it in memory.
 */
export function* parseSnapshotRow(id: string, row: Buffer, intern: Intern): Generator<void, StoredSnapshot> {
  let next = 0;
  const lineEnd = (): number => {
    const end = row.indexOf(newline, next);
    return end < 0 ? row.length : end;
  };
  const headEnd = lineEnd();
  const { counts, ...head } = JSON.parse(row.toString('utf8', 0, headEnd)) as Head;
  next = headEnd + 1;
  const entities: Partial<Record<ConfigKind, readonly Stored[]>> = {};
  for (const kind of configKinds) {
    const taken: Stored[] = [];
    for (let left = counts[kind] ?? 0; left > 0 && next < row.length; left--) {
      const end = lineEnd();
      taken.push(entityIn(row, next, end, kind, intern));
      next = end + 1;
      if (left % stride === 0) yield;
    }
    entities[kind] = taken;
  }
  return { id, ...head, entities: perKind((kind) => entities[kind] ?? []) };
}

const newline = 0x0a;
const space = 0x20;

/** Revisions and ids are ASCII. */
function entityIn(row: Buffer, from: number, end: number, kind: ConfigKind, intern: Intern): Stored {
  const first = row.indexOf(space, from);
  const second = row.indexOf(space, first + 1);
  const id = row.toString('latin1', first + 1, second);
  const revision = Number(row.toString('latin1', from, first));
  return intern(kind, id, revision, () => new Entity(id, revision, row.toString('utf8', second + 1, end)));
}
