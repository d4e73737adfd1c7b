// A snapshot is one row, put together from texts that exist already: a head, then one line `<revision> <id> <json>` for
// each entity. JSON.stringify never writes a line break, so lines need no escaping, and ten thousand routes cost a join.
import { type ConfigKind, configKinds, perKind } from '../model/kinds.ts';
import { Entity } from './entity.ts';
import type { Stored, StoredSnapshot } from './view.ts';

interface Head {
  readonly name: string;
  readonly revision: number;
  readonly createdAt: string;
  readonly values: Readonly<Record<string, string>>;
  readonly counts: Readonly<Record<ConfigKind, number>>;
}

/** Finds an entity that is in memory already, so that snapshots share what they have in common. */
export type Intern = (kind: ConfigKind, entity: Entity) => Stored;

/** UTF-8 of the row, in steps: memory of its size is made once, and filled a little at a time. */
export function* snapshotBytes(snapshot: StoredSnapshot): Generator<void, Buffer> {
  const { name, revision, createdAt, values, entities } = snapshot;
  const counts = Object.fromEntries(configKinds.map((kind) => [kind, entities[kind].length]));
  const head = JSON.stringify({ name, revision, createdAt, values, counts });
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

export function parseSnapshotText(id: string, text: string, intern: Intern): StoredSnapshot {
  const lines = text.split('\n');
  const { counts, ...head } = JSON.parse(lines[0] ?? '') as Head;
  let next = 1;
  const take = (kind: ConfigKind): readonly Stored[] => {
    const end = next + counts[kind];
    const taken = lines.slice(next, end).map((line) => intern(kind, parseLine(line)));
    next = end;
    return taken;
  };
  return { id, ...head, entities: perKind(take) };
}

function parseLine(line: string): Entity {
  const first = line.indexOf(' ');
  const second = line.indexOf(' ', first + 1);
  return new Entity(line.slice(first + 1, second), Number(line.slice(0, first)), line.slice(second + 1));
}
