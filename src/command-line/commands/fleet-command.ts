// `fleet …`: proxies, within nodes and apart.
import type { FleetView, ProxyView } from '../../model/answers/fleet-answers.ts';
import { command } from '../command-declaration.ts';
import { exitCodes } from '../exit.ts';
import { fleetOf } from '../live/fleet-wait.ts';
import { agoText } from '../output/duration-text.ts';
import { show, showValue, yamlOf } from '../output/form.ts';
import type { Column } from '../output/text-table.ts';

const columns: readonly Column<ProxyView>[] = [
  { title: 'proxy', cell: ({ id }) => id },
  { title: 'state', cell: ({ state }) => state },
  { title: 'node', cell: ({ node, embedded }) => (embedded ? '(itself)' : node) },
  { title: 'index', isNumber: true, cell: ({ installed }) => String(installed?.index ?? '') },
  { title: 'rps', isNumber: true, cell: ({ requestsPerSecond }) => requestsPerSecond?.toFixed(1) ?? '' },
  {
    title: 'errors',
    isNumber: true,
    cell: ({ errorRate }) => (errorRate === null ? '' : `${(errorRate * 100).toFixed(2)} %`),
  },
  { title: 'seen', cell: ({ lastSeen }) => agoText(lastSeen) },
  {
    title: 'problems',
    isNumber: true,
    cell: ({ problems, listeners }) => String(problems.length + closed(listeners).length || ''),
  },
  { title: 'version', isWide: true, cell: ({ version }) => version },
  { title: 'address', isWide: true, cell: ({ address }) => address },
  {
    title: 'labels',
    isWide: true,
    cell: ({ labels }) =>
      Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(','),
  },
];

const closed = (listeners: ProxyView['listeners']) => listeners.filter(({ state }) => state !== 'open');

export const fleetList = command({
  words: 'fleet list',
  brief: 'List the proxies and what each has',
  hasForms: true,
  async run(session) {
    const fleet = await fleetOf(await session.api());
    await show(session.terminal, session.form, {
      items: fleet.proxies,
      value: fleet,
      columns,
      nameOf: ({ id }) => id,
      empty: 'no proxies',
    });
    hints(session.terminal, fleet);
    return exitCodes.done;
  },
});

function hints(terminal: { hint(line: string): void }, { anonymous, unreachableNodes }: FleetView): void {
  if (anonymous > 0) terminal.hint(`and ${anonymous} proxies that do not introduce themselves`);
  for (const node of unreachableNodes) terminal.hint(`node ${node} does not answer: its proxies are missing`);
}

export const fleetDescribe = command({
  words: 'fleet describe',
  brief: 'Show one proxy whole',
  arguments: [{ name: 'PROXY', brief: 'Id' }],
  hasForms: true,
  async run(session, [id = '']) {
    const proxy = await (await session.api()).get<ProxyView>(`/fleet/${encodeURIComponent(id)}`);
    const text = await yamlOf(proxy);
    await showValue(session.terminal, session.form, proxy, () => text);
    return exitCodes.done;
  },
});

export const fleetLag = command({
  words: 'fleet lag',
  brief: 'List proxies that do not have what is active; exit code 3 when there are any',
  hasForms: true,
  async run(session) {
    const fleet = await fleetOf(await session.api());
    const items = fleet.proxies.filter(({ state }) => state !== 'current');
    await show(session.terminal, session.form, {
      items,
      columns: lagColumns,
      nameOf: ({ id }) => id,
      empty: 'every proxy has what is active',
    });
    hints(session.terminal, fleet);
    return items.length + fleet.unreachableNodes.length > 0 ? exitCodes.different : exitCodes.done;
  },
});

const lagColumns: readonly Column<ProxyView>[] = [
  { title: 'proxy', cell: ({ id }) => id },
  { title: 'state', cell: ({ state }) => state },
  { title: 'has', isNumber: true, cell: ({ installed }) => String(installed?.index ?? 'nothing') },
  { title: 'wants', isNumber: true, cell: ({ wanted }) => String(wanted?.index ?? 'nothing') },
  { title: 'seen', cell: ({ lastSeen }) => agoText(lastSeen) },
  { title: 'why', cell: ({ problems }) => problems.map(({ pointer, message }) => `${pointer} ${message}`).join('; ') },
];
