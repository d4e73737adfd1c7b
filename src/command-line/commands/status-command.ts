// `status`, `cluster status`, `cluster doctor`: one screen at three in the morning.
import { type Command, command } from '../command-declaration.ts';
import type { Session } from '../command-session.ts';
import { exitCodes } from '../exit.ts';
import { countOf } from '../input/fault.ts';
import { bytesText, type ClusterReport, certificatesOf, confirmText, reportOf } from '../live/cluster-report.ts';
import { lineOf } from '../live/rollouts.ts';
import { agoText } from '../output/duration-text.ts';
import { showValue } from '../output/form.ts';
import { printable, table } from '../output/text-table.ts';
import { memberColumns } from './cluster-command.ts';

const status = (words: string): Command =>
  command({
    words,
    brief: 'Show the whole cluster on one screen',
    text: `Nodes with leader, lag, clocks and disks; proxies; listeners that are not open; certificates by days left; what is live and
whether it waits for a confirmation; what needs attention.`,
    hasForms: true,
    async run(session) {
      const report = await reportOf(await session.api());
      await showValue(session.terminal, session.form, report, () => screen(session, report));
      return exitCodes.done;
    },
  });

export const clusterStatus = status('cluster status');
export const statusCommand = status('status');

function screen({ terminal }: Session, { cluster, fleet, active, rollout, nodes, problems }: ClusterReport): string {
  const { summary } = fleet;
  const disks = new Map(nodes.map(({ node, diskFreeBytes }) => [node, diskFreeBytes]));
  const columns = [
    ...memberColumns,
    {
      title: 'disk free',
      cell: ({ nodeId }: { readonly nodeId: string }) => diskText(disks.get(nodeId)),
      isNumber: true,
    },
  ];
  const proxies = Object.entries(summary).filter(([state, count]) => state !== 'total' && count > 0);
  const listeners = fleet.proxies.flatMap((proxy) => proxy.listeners);
  const open = listeners.filter(({ state }) => state === 'open').length;
  const certificates = certificatesOf(nodes);
  const lines = [
    `cluster   ${cluster.leader === null ? terminal.paint('red', 'NO LEADER') : `leader ${cluster.leader}`}   term ${cluster.term}   commit ${cluster.commit}`,
    liveText(active),
    ...(rollout === null ? [] : [lineOf(rollout)]),
    `fleet     ${countOf(summary.total, 'proxy').replace('proxys', 'proxies')}: ${proxies.map(([state, count]) => `${count} ${state}`).join(', ')}`,
    `listeners ${open}/${listeners.length} open`,
    ...(certificates.length === 0
      ? []
      : [
          `certificates ${certificates
            .slice(0, 5)
            .map(({ listener, certificate, days }) => `${listener || 'api'} ${certificate} ${days} d`)
            .join(', ')}`,
        ]),
  ];
  const attention =
    problems.length === 0
      ? [terminal.paint('green', 'nothing needs attention')]
      : [
          terminal.paint('red', `${countOf(problems.length, 'problem')}:`),
          ...problems.map((each) => `  ${printable(each, true)}`),
        ];
  return `${[...lines.slice(0, 1)].join('\n')}\n${table(cluster.members, columns)}${lines.slice(1).join('\n')}\n\n${attention.join('\n')}\n`;
}

const diskText = (bytes: number | undefined): string => (bytes === undefined ? '?' : bytesText(bytes));

function liveText(active: ClusterReport['active']): string {
  if (active === null) return 'live      nothing';
  const confirm =
    active.confirmBy === undefined ? '' : `   not confirmed: ${confirmText(active.confirmBy)}, sluice confirm keeps it`;
  return `live      ${JSON.stringify(active.name)} of ${agoText(active.createdAt)}${confirm}`;
}

export const clusterDoctor = command({
  words: 'cluster doctor',
  brief: 'Say what needs attention; exit code 1 when something does',
  hasForms: true,
  async run(session) {
    const { problems } = await reportOf(await session.api());
    await showValue(session.terminal, session.form, { problems }, () =>
      problems.length === 0
        ? 'nothing needs attention\n'
        : `${problems.map((each) => printable(each, true)).join('\n')}\n`,
    );
    return problems.length === 0 ? exitCodes.done : exitCodes.failed;
  },
});
