// Guards of a rollout as live charts: candidate beside stable, with the limit of a guard drawn in where it compares with a number.
import { useEffect, useState } from 'preact/hooks';
import { get } from '../lib/api.ts';
import { ms, percent } from '../lib/format.ts';
import type { Rollout, Stats } from '../lib/types.ts';
import { SimpleTable } from '../parts/basics.tsx';
import { Chart } from '../parts/chart.tsx';

const lookMs = 1_000;
const pointsMax = 300;

type Variants = NonNullable<Stats['rollout']>;

interface Point extends Pick<Variants, 'candidate' | 'stable'> {
  readonly at: number;
}

/** Returns the number that a guard compares a field of the candidate with; undefined where it compares with something else. */
function limitOf(guards: readonly string[], field: string): number | undefined {
  for (const guard of guards) {
    const found = new RegExp(`candidate\\.${field}\\s*<=?\\s*(\\d+(?:\\.\\d+)?)(?![\\w.])`).exec(guard);
    if (found?.[1] !== undefined) return Number(found[1]);
  }
  return undefined;
}

export function Guards({ rollout, guards }: { readonly rollout: Rollout; readonly guards: readonly string[] }) {
  const [points, setPoints] = useState<readonly Point[]>([]);
  const isOpen = rollout.state === 'running' || rollout.state === 'paused';
  useEffect(() => {
    if (!isOpen) return;
    const timer = setInterval(async () => {
      if (document.hidden) return;
      const read = await get<Stats>('/stats').catch(() => undefined);
      if (read?.rollout === undefined) return;
      const { candidate, stable } = read.rollout;
      const point = { at: Date.parse(read.at) / 1_000, candidate, stable };
      setPoints((before) => [...before.slice(1 - pointsMax), point]);
    }, lookMs);
    return () => clearInterval(timer);
  }, [isOpen]);
  const times = points.map(({ at }) => at);
  const [errorLimit, latencyLimit] = [limitOf(guards, 'errorRate'), limitOf(guards, 'p99Ms')];
  const line = (limit: number | undefined, factor = 1) =>
    limit === undefined
      ? []
      : [{ label: 'limit of the guard', colour: 'bad', dash: [2, 4], values: points.map(() => limit * factor) }];
  return (
    <section class="card">
      <h2>Guards</h2>
      <ul>
        {guards.map((guard) => (
          <li key={guard}>
            <code>{guard}</code>
          </li>
        ))}
      </ul>
      {isOpen && (
        <>
          <Variants points={points} />
          <div class="charts">
            <Chart
              title="Errors since it began"
              unit=" %"
              times={times}
              lines={[
                {
                  label: 'candidate',
                  colour: 'accent',
                  values: points.map(({ candidate }) => candidate.errorRate * 100),
                },
                {
                  label: 'stable',
                  colour: 'good',
                  dash: [6, 3],
                  values: points.map(({ stable }) => stable.errorRate * 100),
                },
                ...line(errorLimit, 100),
              ]}
            />
            <Chart
              title="Latency p99 since it began"
              unit=" ms"
              times={times}
              lines={[
                { label: 'candidate', colour: 'accent', values: points.map(({ candidate }) => candidate.p99Ms) },
                { label: 'stable', colour: 'good', dash: [6, 3], values: points.map(({ stable }) => stable.p99Ms) },
                ...line(latencyLimit),
              ]}
            />
          </div>
        </>
      )}
    </section>
  );
}

function Variants({ points }: { readonly points: readonly Point[] }) {
  const last = points.at(-1);
  if (last === undefined) return null;
  return (
    <SimpleTable
      name="Stable beside candidate"
      head={['Variant', 'Requests', 'Errors', 'p50', 'p99']}
      rows={(['candidate', 'stable'] as const).map((name) => {
        const { requests, errorRate, p50Ms, p99Ms } = last[name];
        return { key: name, cells: [name, requests.toLocaleString('en'), percent(errorRate), ms(p50Ms), ms(p99Ms)] };
      })}
    />
  );
}
