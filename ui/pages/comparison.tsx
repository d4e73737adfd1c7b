// Difference of two snapshots, or of one and what is staged.
import { useEffect, useState } from 'preact/hooks';
import { differingPointers, valueAt } from '../editor/json-values.ts';
import { get, messageOf } from '../lib/api.ts';
import { shown } from '../lib/format.ts';
import { snapshots } from '../lib/store.ts';
import { type Entity, type Json, nounOf, type SnapshotSummary } from '../lib/types.ts';
import { Empty, Field, Problem } from '../parts/basics.tsx';

type Content = Readonly<Record<string, readonly Entity[]>>;

const kinds = ['listeners', 'routes', 'groups', 'destinations', 'middlewares', 'streamRoutes', 'consumers'] as const;
const linesMax = 500;

async function contentOf(id: string): Promise<Content> {
  if (id !== 'staged')
    return (await get<{ readonly snapshot: Content }>(`/snapshots/${encodeURIComponent(id)}`)).snapshot;
  return (await get<{ readonly staged: Content }>('/debug/config')).staged;
}

function linesOf(before: Content, after: Content): string[] {
  return kinds.flatMap((kind) => {
    const [old, now] = [before, after].map((content) => new Map((content[kind] ?? []).map((each) => [each.id, each])));
    const ids = [...new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])];
    return ids.flatMap((id): string[] => {
      const [from, to] = [old?.get(id), now?.get(id)];
      const noun = nounOf(kind);
      if (from === undefined) return [`${noun} ${to?.name}: new`];
      if (to === undefined) return [`${noun} ${from.name}: deleted`];
      const [mine, theirs] = [from as unknown as Json, to as unknown as Json];
      return differingPointers(mine, theirs).map(
        (pointer) =>
          `${noun} ${to.name} ${pointer}: ${shown(valueAt(mine, pointer))} → ${shown(valueAt(theirs, pointer))}`,
      );
    });
  });
}

export function Comparison({ snapshot }: { readonly snapshot: SnapshotSummary }) {
  const others = snapshots.value.value?.filter(({ id }) => id !== snapshot.id) ?? [];
  const [other, setOther] = useState(others.find(({ active }) => active)?.id ?? 'staged');
  const [lines, setLines] = useState<readonly string[]>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    setLines(undefined);
    Promise.all([contentOf(other), contentOf(snapshot.id)])
      .then(([before, after]) => setLines(linesOf(before, after)))
      .catch((error: unknown) => setProblem(messageOf(error)));
  }, [other, snapshot.id]);
  return (
    <section class="card" aria-label="Comparison">
      <h2>{snapshot.name} beside another</h2>
      <Field label="Compared with">
        {(id) => (
          <select id={id} value={other} onChange={(event) => setOther(event.currentTarget.value)}>
            <option value="staged">what is staged</option>
            {others.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Problem text={problem} />
      {lines?.length === 0 && <Empty>They are the same.</Empty>}
      <ul>
        {lines?.slice(0, linesMax).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {(lines?.length ?? 0) > linesMax && (
        <p class="about">
          The first {linesMax} of {lines?.length} differences.
        </p>
      )}
    </section>
  );
}
