// Responses of the mirrors of a route that differ from those of its requests.
import { useState } from 'preact/hooks';
import { get, messageOf } from '../lib/api.ts';
import { moment } from '../lib/format.ts';
import { useLook } from '../lib/live.ts';
import type { RouteEntity } from '../lib/route-rows.ts';
import type { MirrorMismatch } from '../lib/types.ts';
import { Empty, Problem, SimpleTable } from '../parts/basics.tsx';

const lookMs = 5_000;
const shownMax = 20;

/** Returns whether one of the mirrors of a route compares responses. */
export const compares = ({ forward = {} }: RouteEntity): boolean =>
  [forward.mirror, ...(forward.mirrors ?? [])].some((mirror) => mirror?.compare !== undefined);

/** @param id of the route */
export function Mismatches({ id }: { readonly id: string }) {
  const [found, setFound] = useState<readonly MirrorMismatch[]>();
  const [problem, setProblem] = useState<string>();
  const look = (signal: AbortSignal): void =>
    void get<readonly MirrorMismatch[]>('/mirrors/mismatches?limit=1000', signal).then(
      (all) => {
        setFound(all.filter(({ routeId }) => routeId === id));
        setProblem(undefined);
      },
      (error: unknown) => {
        if (!signal.aborted) setProblem(messageOf(error));
      },
    );
  useLook(look, lookMs, [id]);
  return (
    <section class="card" aria-label="Mismatches">
      <h2>Mirrors that answer otherwise</h2>
      <Problem text={problem} />
      {found?.length === 0 && <Empty>No response differs, of those that the nodes have compared.</Empty>}
      {found !== undefined && found.length > 0 && (
        <SimpleTable
          name="Mismatches"
          head={['When', 'Request', 'Mirror', 'Differs', 'Primary', 'Mirrored', 'Node']}
          rows={found.slice(0, shownMax).map((each, at) => ({
            key: String(at),
            cells: [
              moment(each.time),
              `${each.method} ${each.host}${each.path}`,
              each.destination,
              [each.result, each.header ?? each.pointer ?? ''].join(' ').trim(),
              sideText(each, 'primary'),
              sideText(each, 'mirror'),
              each.node,
            ],
          }))}
        />
      )}
    </section>
  );
}

function sideText(mismatch: MirrorMismatch, side: 'primary' | 'mirror'): string {
  const { status, value } = mismatch[side];
  return mismatch.result === 'status' && value === null ? String(status) : (value ?? 'absent');
}
