// Topology: how requests flow through the configuration, with width by rate, colour and pattern by errors.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { get, messageOf } from '../lib/api.ts';
import { counted } from '../lib/format.ts';
import { useLive } from '../lib/live.ts';
import { fleet, staged, stats, troubles } from '../lib/store.ts';
import { columnNames, type Graph, graphOf, type Node, type Parts, pathThrough } from '../lib/topology.ts';
import type { FleetProxy, TrafficSubject } from '../lib/types.ts';
import { Empty, Field, Problem } from '../parts/basics.tsx';

type Shown = 'live' | 'staged' | 'difference';

const [width, columnWidth, rowHeight, boxHeight, top] = [1034, 160, 34, 26, 30];
/** Room for the lines around boxes. */
const margin = 2;
const gap = (width - 2 * margin - columnNames.length * columnWidth) / (columnNames.length - 1);

const xOf = (column: number): number => margin + column * (columnWidth + gap);

interface Placed extends Node {
  readonly x: number;
  readonly y: number;
}

function placed({ nodes }: Graph): ReadonlyMap<string, Placed> {
  const rows = new Map<number, number>();
  return new Map(
    nodes.map((node) => {
      const row = rows.get(node.column) ?? 0;
      rows.set(node.column, row + 1);
      return [node.key, { ...node, x: xOf(node.column), y: top + row * rowHeight }];
    }),
  );
}

const shownMax = 24;
const shortened = (label: string): string => {
  const characters = [...label];
  return characters.length > shownMax ? `${characters.slice(0, shownMax - 1).join('')}…` : label;
};

/** Returns what is staged, with those of the active resources that it lacks. */
function withRemoved(now: Parts, active: Parts, removed: ReadonlySet<string>): Parts {
  const joined = <T extends { readonly id: string }>(staged: readonly T[], before: readonly T[]): T[] => {
    const kept = new Set(staged.map(({ id }) => id));
    return [...staged, ...before.filter(({ id }) => removed.has(id) && !kept.has(id))];
  };
  return {
    listeners: joined(now.listeners, active.listeners),
    routes: joined(now.routes, active.routes),
    groups: joined(now.groups, active.groups),
    middlewares: joined(now.middlewares, active.middlewares),
    destinations: joined(now.destinations, active.destinations),
  };
}

/** Returns at how many proxies each listener is open, of all that have it, by the key of its node. */
function openListeners(
  proxies: readonly FleetProxy[],
): ReadonlyMap<string, { readonly open: number; readonly all: number }> {
  const found = new Map<string, { open: number; all: number }>();
  for (const { state, listeners } of proxies) {
    if (state === 'disconnected') continue;
    for (const { id, state: own } of listeners) {
      const counts = found.get(`0/${id}`) ?? { open: 0, all: 0 };
      found.set(`0/${id}`, counts);
      counts.all++;
      if (own === 'open') counts.open++;
    }
  }
  return found;
}

export function Topology() {
  const [shown, setShown] = useState<Shown>('live');
  const [config, setConfig] = useState<Parts & { readonly staged: Parts }>();
  const [problem, setProblem] = useState<string>();
  const [chosen, setChosen] = useState<string>();
  const difference = useLive(staged);
  const traffic = useLive(stats);
  useEffect(() => {
    get<Parts & { readonly staged: Parts }>('/debug/config').then(setConfig, (error: unknown) =>
      setProblem(messageOf(error)),
    );
  }, [difference]);
  const removed = useMemo(
    () => new Set(shown === 'difference' ? (difference?.deleted ?? []).map(({ id }) => id) : []),
    [difference, shown],
  );
  const troubled = useLive(troubles);
  const proxies = useLive(fleet)?.proxies;
  const placesOf = useMemo(() => openListeners(proxies ?? []), [proxies]);
  /** State of what does not serve, by the key of its node. */
  const ill = useMemo(
    () =>
      new Map<string, string>(
        (troubled ?? []).flatMap(({ destinationId, circuit, endpoints }) => [
          ...(circuit === null || circuit === 'closed' ? [] : [[`3/${destinationId}`, `circuit ${circuit}`] as const]),
          ...endpoints.map(({ endpoint, state }) => [`4/${destinationId}/${endpoint}`, state] as const),
        ]),
      ),
    [troubled],
  );
  const stateOf = (key: string): string | undefined => {
    const listener = placesOf.get(key);
    if (shown !== 'live' || listener === undefined || listener.open === listener.all) return ill.get(key);
    return `open at ${listener.open} of ${counted(listener.all, 'proxy')}`;
  };
  const graph = useMemo(() => {
    if (config === undefined) return undefined;
    if (shown === 'live') return graphOf(config);
    return graphOf(shown === 'staged' ? config.staged : withRemoved(config.staged, config, removed));
  }, [config, shown, removed]);
  const changed = useMemo(
    () =>
      new Set(
        shown === 'difference' && difference !== undefined
          ? [...difference.created, ...difference.changed].map(({ id }) => id)
          : [],
      ),
    [difference, shown],
  );
  const places = useMemo(() => (graph === undefined ? new Map<string, Placed>() : placed(graph)), [graph]);
  const path = useMemo(
    () => (graph === undefined || chosen === undefined ? undefined : pathThrough(graph, chosen)),
    [graph, chosen],
  );
  const figures = useMemo(
    () =>
      new Map<string, TrafficSubject['windows']['60s']>([
        ...(traffic?.routes ?? []).map(({ id, windows }) => [`1/${id}`, windows['60s']] as const),
        ...(traffic?.destinations ?? []).map(({ id, windows }) => [`3/${id}`, windows['60s']] as const),
      ]),
    [traffic],
  );
  const height = Math.max(120, ...[...places.values()].map(({ y }) => y + rowHeight));
  const figuresOf = (key: string) => {
    const { column, subject } = places.get(key) ?? {};
    return figures.get(`${column}/${subject}`);
  };
  return (
    <>
      <Problem text={problem} />
      <Field label="Configuration">
        {(id) => (
          <select id={id} value={shown} onChange={(event) => setShown(event.currentTarget.value as Shown)}>
            <option value="live">live</option>
            <option value="staged">staged</option>
            <option value="difference">staged, what differs marked</option>
          </select>
        )}
      </Field>
      {graph !== undefined && graph.nodes.length === 0 && (
        <Empty>Nothing is {shown === 'live' ? 'active' : 'staged'}.</Empty>
      )}
      {graph !== undefined && graph.nodes.length > 0 && (
        <section class="scroll topology" tabIndex={0} aria-label="Graph, scrollable">
          <svg
            viewBox={`0 0 ${width} ${height}`}
            width={width}
            height={height}
            role="group"
            aria-label="Graph of the configuration"
          >
            {columnNames.map((name, column) => (
              <text key={name} x={xOf(column)} y={16} class="column-name">
                {name}
              </text>
            ))}
            {graph.edges.map(({ from, to }) => {
              const [a, b] = [places.get(from), places.get(to)];
              if (a === undefined || b === undefined) return null;
              const [x1, y1, x2, y2] = [a.x + columnWidth, a.y + boxHeight / 2, b.x, b.y + boxHeight / 2];
              const flow = figuresOf(to) ?? figuresOf(from);
              const isFailing = (flow?.errorRate ?? 0) > 0.01;
              const isOff = path !== undefined && !(path.has(from) && path.has(to));
              const isBack = a.column === b.column;
              const bend = isBack
                ? `C ${x1 + 30} ${y1}, ${x1 + 30} ${y2}, ${x1} ${y2}`
                : `C ${x1 + gap / 2} ${y1}, ${x2 - gap / 2} ${y2}, ${x2} ${y2}`;
              return (
                <path
                  key={`${from} ${to}`}
                  d={`M ${x1} ${y1} ${bend}`}
                  class={`edge ${isFailing ? 'failing' : ''} ${isOff ? 'off' : ''}`}
                  stroke-width={1 + Math.min(8, Math.log2(1 + (flow?.requestsPerSecond ?? 0)))}
                />
              );
            })}
            {[...places.values()].map((node) => {
              const id = node.key.slice(node.key.indexOf('/') + 1);
              const isChanged = changed.has(id);
              const isRemoved = removed.has(id);
              const state = stateOf(node.key);
              const serving = shown === 'live' ? placesOf.get(node.key)?.open : undefined;
              const named = serving === undefined || serving < 2 ? node.label : `${node.label}, ${serving} proxies`;
              const about = `${state === undefined ? '' : `, ${state}`}${isChanged ? ', differs' : ''}${isRemoved ? ', removed' : ''}`;
              const classes = [
                'node',
                state !== undefined && 'ill',
                isChanged && 'changed',
                isRemoved && 'removed',
                path !== undefined && !path.has(node.key) && 'off',
              ];
              const label = state === undefined ? named : `${node.label}: ${state}`;
              const choose = (): void => setChosen(chosen === node.key ? undefined : node.key);
              return (
                <g
                  key={node.key}
                  role="button"
                  tabIndex={0}
                  aria-pressed={chosen === node.key}
                  aria-label={`${columnNames[node.column]}: ${state === undefined ? named : node.label}${about}`}
                  class={classes.filter((each) => each !== false).join(' ')}
                  onClick={choose}
                  onMouseEnter={() => setChosen(node.key)}
                  onMouseLeave={() => setChosen(undefined)}
                  onKeyDown={({ key }) => (key === 'Enter' || key === ' ') && choose()}
                >
                  <title>{label}</title>
                  <rect x={node.x} y={node.y} width={columnWidth} height={boxHeight} rx={4} />
                  <text x={node.x + 8} y={node.y + 17}>
                    {shortened(label)}
                  </text>
                </g>
              );
            })}
          </svg>
        </section>
      )}
    </>
  );
}
