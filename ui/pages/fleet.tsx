// Proxies of the fleet: what each has, how far it lags, its labels and listeners.
import { useMemo, useState } from 'preact/hooks';
import { say } from '../frame/messages.tsx';
import { call, messageOf } from '../lib/api.ts';
import { ago, percent, rate } from '../lib/format.ts';
import { useLive } from '../lib/live.ts';
import { fleet, refusal } from '../lib/store.ts';
import type { FleetProxy } from '../lib/types.ts';
import { Act, Badge, Problem, type Tone } from '../parts/basics.tsx';
import { Choice, Search } from '../parts/filters.tsx';
import { type Column, VirtualTable } from '../parts/virtual-table.tsx';

const tones: Readonly<Record<FleetProxy['state'], Tone>> = {
  current: 'good',
  behind: 'warn',
  refused: 'bad',
  disconnected: 'plain',
};

const labelsOf = ({ labels }: FleetProxy): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

const lagOf = ({ installed, wanted }: FleetProxy): string =>
  wanted === null
    ? ''
    : installed === null
      ? 'has nothing'
      : installed.index >= wanted.index
        ? 'none'
        : `${wanted.index - installed.index} commits`;

export function FleetPage() {
  const view = useLive(fleet);
  const [search, setSearch] = useState('');
  const [state, setState] = useState('');
  const rows = useMemo(() => {
    const word = search.toLowerCase();
    return (view?.proxies ?? []).filter(
      (proxy) =>
        (state === '' || proxy.state === state) &&
        `${proxy.id} ${proxy.node} ${proxy.address} ${proxy.version} ${labelsOf(proxy)}`.toLowerCase().includes(word),
    );
  }, [view, search, state]);
  const forget = async (id: string): Promise<void> => {
    try {
      await call('DELETE', `/fleet/${encodeURIComponent(id)}`);
      say(`${id} is listed no more.`);
    } catch (error) {
      say(messageOf(error), 'bad');
    }
    await fleet.reload();
  };
  const columns: readonly Column<FleetProxy>[] = [
    { title: 'Proxy', width: 3, cell: ({ id, embedded }) => (embedded ? `${id} (in the node)` : id) },
    { title: 'State', width: 1.5, cell: (proxy) => <Badge tone={tones[proxy.state]}>{proxy.state}</Badge> },
    { title: 'Lag', width: 1.2, isExtra: true, cell: lagOf },
    { title: 'Node', width: 1.2, isExtra: true, cell: ({ node }) => node },
    { title: 'Labels', width: 2.5, isExtra: true, cell: labelsOf },
    { title: 'Version', width: 1, isExtra: true, cell: ({ version }) => version },
    { title: 'Rate', width: 1, isExtra: true, cell: ({ requestsPerSecond }) => rate(requestsPerSecond ?? undefined) },
    { title: 'Errors', width: 1, isExtra: true, cell: ({ errorRate }) => percent(errorRate ?? undefined) },
    {
      title: 'Problems',
      width: 2,
      isExtra: true,
      cell: ({ problems, listeners, state: now, id }) =>
        now === 'disconnected' ? (
          <Act refused={refusal('editor')} onAct={() => forget(id)}>
            Forget <span class="hidden">{id}</span>
          </Act>
        ) : (
          [
            ...problems.map(({ message }) => message),
            ...listeners.filter((each) => each.state !== 'open').map((each) => `${each.id} ${each.state}`),
          ].join('; ')
        ),
    },
    { title: 'Seen', width: 1.2, isExtra: true, cell: ({ lastSeen }) => ago(lastSeen) },
  ];
  const summary = view?.summary;
  return (
    <>
      <Problem text={fleet.error.value} />
      <p role="status">
        {summary === undefined
          ? 'Loading …'
          : `${summary.current} current, ${summary.behind} behind, ${summary.refused} refused, ${summary.disconnected} disconnected` +
            `, ${view?.anonymous ?? 0} anonymous`}
        {(view?.unreachableNodes.length ?? 0) > 0 && `; no answer from ${view?.unreachableNodes.join(', ')}`}
      </p>
      <div class="row filters">
        <Search label="Search proxies" value={search} onSearch={setSearch} />
        <Choice label="State" value={state} choices={Object.keys(tones)} onChoose={setState} />
      </div>
      <VirtualTable name="Proxies" columns={columns} rows={rows} keyOf={({ id, node }) => `${id}@${node}`} />
    </>
  );
}
