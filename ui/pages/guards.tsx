// Guards of a rollout as live charts: candidate beside stable, with the limit of a guard drawn in where it compares with a number.
import { useEffect, useState } from 'preact/hooks';
import { get } from '../lib/api.ts';
import type { Rollout, Stats } from '../lib/types.ts';
import { Chart } from '../parts/chart.tsx';

const lookMs = 1_000;
const pointsMax = 300;

interface Point {
  readonly at: number;
  readonly errorRate: number;
  readonly p99Ms: number | null;
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
      const total = read?.total['1s'];
      if (read === undefined || total === undefined) return;
      const point = { at: Date.parse(read.at) / 1_000, errorRate: total.errorRate, p99Ms: total.p99Ms };
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
        <div class="charts">
          <Chart
            title="Errors, all traffic"
            unit=" %"
            times={times}
            lines={[
              { label: 'errors', colour: 'accent', values: points.map(({ errorRate }) => errorRate * 100) },
              ...line(errorLimit, 100),
            ]}
          />
          <Chart
            title="Latency, all traffic"
            unit=" ms"
            times={times}
            lines={[
              { label: '99 %', colour: 'accent', values: points.map(({ p99Ms }) => p99Ms) },
              ...line(latencyLimit),
            ]}
          />
        </div>
      )}
    </section>
  );
}
