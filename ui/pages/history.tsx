// History of one resource over the snapshots.
import { useState } from 'preact/hooks';
import { differingPointers, valueAt } from '../editor/json-values.ts';
import { get, messageOf } from '../lib/api.ts';
import { moment, shown } from '../lib/format.ts';
import { useLive } from '../lib/live.ts';
import { snapshots } from '../lib/store.ts';
import type { Entity, Json, ShownKind } from '../lib/types.ts';
import { Empty, Problem } from '../parts/basics.tsx';

interface Full {
  readonly snapshot: Readonly<Record<string, readonly Entity[]>>;
}

interface Step {
  readonly name: string;
  readonly createdAt: string;
  readonly lines: readonly string[];
}

/** Snapshots that are read, the newest first: each is read whole. */
const readMax = 10;

export function History({ kind, id }: { readonly kind: ShownKind; readonly id: string }) {
  const list = useLive(snapshots);
  const [steps, setSteps] = useState<readonly Step[]>();
  const [problem, setProblem] = useState<string>();
  const read = async (): Promise<void> => {
    try {
      const last = [...(list ?? [])].slice(-readMax);
      const made: Step[] = [];
      let before: Json | undefined;
      for (const { id: snapshot, name, createdAt } of last) {
        const { snapshot: content } = await get<Full>(`/snapshots/${encodeURIComponent(snapshot)}`);
        const entity = content[kind]?.find((each) => each.id === id) as unknown as Json | undefined;
        const pointers = before === undefined || entity === undefined ? [] : differingPointers(before, entity);
        const lines =
          entity === undefined
            ? before === undefined
              ? []
              : ['deleted']
            : before === undefined
              ? ['there']
              : pointers.map(
                  (pointer) => `${pointer}: ${shown(valueAt(before, pointer))} → ${shown(valueAt(entity, pointer))}`,
                );
        if (lines.length > 0) made.push({ name, createdAt, lines });
        before = entity;
      }
      setSteps(made.reverse());
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <section class="card">
      <h2>History</h2>
      <Problem text={problem} />
      {steps === undefined ? (
        <button type="button" onClick={() => void read()}>
          Read the last {Math.min(readMax, list?.length ?? readMax)} snapshots
        </button>
      ) : steps.length === 0 ? (
        <Empty>It is in none of the last snapshots.</Empty>
      ) : (
        <ol class="history">
          {steps.map(({ name, createdAt, lines }) => (
            <li key={name}>
              <strong>{name}</strong> <span class="about">{moment(createdAt)}</span>
              <ul>
                {lines.map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
