// Impact of what is staged: findings, routes that a change reaches, and on demand the requests of the last minutes, replayed.
import { useEffect, useState } from 'preact/hooks';
import { messageOf, post } from '../lib/api.ts';
import { counted } from '../lib/format.ts';
import type { Difference, EntityDifference, Replay } from '../lib/types.ts';
import { Act, Empty, PageLink, Problem, SimpleTable } from '../parts/basics.tsx';
import { FindingsList } from '../parts/findings.tsx';

/** Edits often come together. */
const settleMs = 400;
const shownMax = 50;

export function Impact({ difference }: { readonly difference: EntityDifference }) {
  const [impact, setImpact] = useState<Difference>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const read = async (replay: object | null, isCurrent = (): boolean => true): Promise<void> => {
    setBusy(true);
    try {
      const found = await post<Difference>('/diff', { from: 'active', to: 'staged', replay });
      if (!isCurrent()) return;
      setImpact(found);
      setProblem(undefined);
    } catch (error) {
      if (isCurrent()) setProblem(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(() => void read(null, () => isCurrent), settleMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [difference]);
  const found = impact?.findings;
  return (
    <section class="card" aria-labelledby="impact">
      <h2 id="impact">Impact</h2>
      <Problem text={problem} />
      {impact === undefined ? (
        <p>Comparing …</p>
      ) : (
        <>
          {found !== undefined && found.new.length > 0 && (
            <>
              <h3>New findings</h3>
              <FindingsList name="New findings" findings={found.new} />
            </>
          )}
          {found !== undefined && found.gone.length > 0 && (
            <>
              <h3>Findings that are gone</h3>
              <FindingsList name="Findings that are gone" findings={found.gone} />
            </>
          )}
          {found?.new.length === 0 && found.gone.length === 0 && <Empty>No finding is new, none is gone.</Empty>}
          {impact.routes.length > 0 && (
            <p>
              {counted(impact.routes.length, 'route')} affected:{' '}
              {impact.routes.slice(0, shownMax).map(({ id, name, why }) => (
                <span key={id} title={why.join('\n')}>
                  <PageLink to="routes" query={{ id }}>
                    {name}
                  </PageLink>{' '}
                </span>
              ))}
              {impact.routes.length > shownMax && `and ${impact.routes.length - shownMax} more`}
            </p>
          )}
          <Act refused={undefined} disabled={isBusy} onAct={() => read({})}>
            Replay recent requests
          </Act>
          {impact.replay !== null && <Replayed replay={impact.replay} unreachable={impact.unreachable ?? []} />}
        </>
      )}
    </section>
  );
}

function Replayed({ replay, unreachable }: { readonly replay: Replay; readonly unreachable: readonly string[] }) {
  const moves = (['moved', 'lost', 'gained'] as const).flatMap((is) =>
    replay[is].map(({ from, to, requests, standsFor, examples }) => ({
      key: `${is} ${from?.id} ${to?.id}`,
      cells: [
        is,
        from?.name ?? 'no route',
        to?.name ?? 'no route',
        String(requests),
        String(standsFor),
        examples
          .slice(0, 1)
          .map(({ method, host, path }) => `${method} ${host}${path}`)
          .join(),
      ],
    })),
  );
  const changed = replay.changed.map(({ route, what, requests }) => ({
    key: `changed ${route.id} ${what.join()}`,
    cells: ['changed', route.name, what.join(', '), String(requests), '', ''],
  }));
  const undecided = replay.undecided.map(({ needs, requests }) => ({
    key: `undecided ${needs}`,
    cells: ['undecided', '', `${needs} is not recorded`, String(requests), '', ''],
  }));
  const rows = [...moves, ...changed, ...undecided];
  return (
    <>
      <p role="status">
        {counted(replay.requests, 'request')} replayed, for {replay.standsFor}; {replay.same} the same.
        {unreachable.length > 0 && ` Without those of ${unreachable.join(', ')}.`}
      </p>
      {rows.length > 0 && (
        <SimpleTable name="Replayed requests" head={['What', 'From', 'To', 'Requests', 'For', 'Example']} rows={rows} />
      )}
    </>
  );
}
