// Shadow steps of a rollout: requests that were compared with the candidate, by what differs, with examples.
import { useState } from 'preact/hooks';
import { get } from '../lib/api.ts';
import { moment } from '../lib/format.ts';
import { useLook } from '../lib/live.ts';
import type { Rollout } from '../lib/types.ts';
import { SimpleTable } from '../parts/basics.tsx';

const lookMs = 1_000;
/** Examples of a kind that are shown. */
const shownMax = 20;

type Figures = NonNullable<Rollout['shadow']>;

const kinds = [
  ['lost', 'Lost: had a route, would get none'],
  ['rejectedLess', 'Rejected less: were rejected, would pass'],
  ['rejectedMore', 'Rejected more: pass, would be rejected'],
  ['moved', 'Moved: another route, destination or target'],
  ['answersChanged', 'Answered differently by Sluice'],
  ['gained', 'Gained: had no route, would get one'],
] as const;

export function Shadow({ rollout }: { readonly rollout: Rollout }) {
  const { id, state } = rollout;
  const [figures, setFigures] = useState<Figures | undefined>(rollout.shadow ?? undefined);
  const isOpen = state === 'running' || state === 'paused';
  const look = async (): Promise<void> => {
    const read = await get<Rollout>(`/rollouts/${encodeURIComponent(id)}`).catch(() => undefined);
    if (read?.shadow) setFigures(read.shadow);
  };
  useLook(() => void look(), isOpen ? lookMs : undefined, [id, isOpen]);
  if (figures === undefined) return null;
  const { requests, same, undecided, examples } = figures;
  const found = kinds.filter(([kind]) => (examples?.[kind].length ?? 0) > 0);
  return (
    <section class="card" aria-label="Shadow">
      <h2>Compared with the candidate</h2>
      <SimpleTable
        name="Compared requests"
        head={['Requests', 'Count']}
        rows={[
          { key: 'requests', cells: ['Compared', requests.toLocaleString('en')] },
          { key: 'same', cells: ['Without a difference', same.toLocaleString('en')] },
          ...kinds.map(([kind, words]) => ({ key: kind, cells: [words, figures[kind].toLocaleString('en')] })),
          { key: 'undecided', cells: ['Undecided, beside those', undecided.toLocaleString('en')] },
        ]}
      />
      {found.map(([kind, words]) => (
        <div key={kind}>
          <h3>{words}</h3>
          <SimpleTable
            name={`Examples: ${words}`}
            head={['When', 'Request', 'Query', 'Route', 'Candidate', 'Differs in']}
            rows={(examples?.[kind] ?? []).slice(0, shownMax).map((each, at) => ({
              key: String(at),
              cells: [
                moment(each.time),
                `${each.method} ${each.host}${each.path}`,
                each.params.join(', '),
                each.from?.name ?? 'none',
                each.to?.name ?? 'none',
                each.what.join(', '),
              ],
            }))}
          />
        </div>
      ))}
    </section>
  );
}
