// Report of a whole cluster: nodes, proxies, what is live, disks, clocks, certificates, and what is wrong with each.

import type { ClusterOverview, MemberView } from '../../model/answers/cluster-answers.ts';
import type { FleetView, MemberDisks } from '../../model/answers/fleet-answers.ts';
import type { SnapshotSummary } from '../../model/snapshot.ts';
import type { Api } from '../connection/api-client.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { durationText } from '../output/duration-text.ts';
import { fleetOf } from './fleet-wait.ts';
import { samplesOf } from './node-metrics.ts';
import { isOver, type Rollout } from './rollouts.ts';

export interface NodeReport {
  readonly node: string;
  /** Why it does not answer; absent where it does. */
  readonly unreachable?: string;
  readonly diskFreeBytes?: number;
  readonly loopLagSeconds?: number;
  readonly certificates: readonly {
    readonly listener: string;
    readonly certificate: string;
    readonly endsAt: number;
  }[];
  readonly openBreakers: readonly string[];
  /** Why its store takes no write; null while it takes them. */
  readonly storeProblem: string | null;
}

export interface ClusterReport {
  readonly cluster: ClusterOverview;
  readonly fleet: FleetView;
  readonly active: SnapshotSummary | null;
  readonly rollout: Rollout | null;
  readonly nodes: readonly NodeReport[];
  /** False: what is live, and the rollout, are told as the node that answers has them. */
  readonly isAgreed: boolean;
  readonly problems: readonly string[];
}

/** Reads all of it; nodes that do not answer within three seconds are named. */
export async function reportOf(api: Api): Promise<ClusterReport> {
  const [cluster, fleet, disks] = await Promise.all([
    api.get<ClusterOverview>('/cluster'),
    fleetOf(api),
    // Servers of earlier versions do not have it.
    api.ask<readonly MemberDisks[]>('GET', '/disks', { allows: [404] }),
  ]);
  const [[snapshots, isAgreed], [rollouts]] = await Promise.all([
    agreedList<SnapshotSummary>(api, '/snapshots', cluster),
    agreedList<Rollout>(api, '/rollouts', cluster),
  ]);
  const stores = new Map(disks.status === 404 ? [] : disks.body.map(({ nodeId, problem }) => [nodeId, problem]));
  const nodes = await Promise.all(
    cluster.members.map(async (member) => ({
      ...(await nodeReport(api, member, cluster.clustered)),
      storeProblem: stores.get(member.nodeId) ?? null,
    })),
  );
  const active = snapshots.find((each) => each.active) ?? null;
  const rollout = rollouts.find((each) => !isOver(each)) ?? null;
  const report = { cluster, fleet, active, rollout, nodes, isAgreed };
  return { ...report, problems: problemsOf(report) };
}

/** Resolves with a list and true; with what the node itself has, and false, where the cluster cannot agree. */
async function agreedList<T>(api: Api, path: string, { leader }: ClusterOverview): Promise<[readonly T[], boolean]> {
  if (leader !== null)
    try {
      return [await api.get<readonly T[]>(path), true];
    } catch (error) {
      if (!(error instanceof CommandFailure && error.code === exitCodes.unreachable)) throw error;
    }
  return [await api.get<readonly T[]>(path, { consistency: 'stale' }), false];
}

const names = new Set([
  'sluice_disk_free_bytes',
  'sluice_event_loop_lag_seconds',
  'sluice_certificate_expiry_seconds',
  'sluice_destination_circuit_breaker_state',
]);
const nodeMs = 3_000;

async function nodeReport(
  api: Api,
  { nodeId, apiAddress }: MemberView,
  clustered: boolean,
): Promise<Omit<NodeReport, 'storeProblem'>> {
  const nothing = { node: nodeId, certificates: [], openBreakers: [] };
  const own = clustered && apiAddress !== '' ? api.atAddress(apiAddress, nodeMs) : api;
  try {
    const samples = samplesOf(await own.text('/metrics'), names);
    const [disk] = samples.get('sluice_disk_free_bytes') ?? [];
    const [lag] = samples.get('sluice_event_loop_lag_seconds') ?? [];
    return {
      node: nodeId,
      ...(disk && { diskFreeBytes: disk.value }),
      ...(lag && { loopLagSeconds: lag.value }),
      certificates: (samples.get('sluice_certificate_expiry_seconds') ?? []).map(({ labels, value }) => ({
        listener: labels.listener ?? '',
        certificate: labels.certificate ?? '',
        endsAt: value,
      })),
      openBreakers: (samples.get('sluice_destination_circuit_breaker_state') ?? [])
        .filter(({ value }) => value !== 0)
        .map(({ labels }) => labels.destination ?? ''),
    };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { ...nothing, unreachable: error.message };
  }
}

const diskFreeMin = 1024 ** 3;
const clockOffsetMax = 0.5;
const lagMax = 1_000;
const daysMin = 14;

/** Lines about all that needs attention. */
function problemsOf({ cluster, fleet, active, rollout, nodes, isAgreed }: Omit<ClusterReport, 'problems'>): string[] {
  const found: string[] = [];
  if (cluster.leader === null) found.push('the cluster has no leader');
  if (!isAgreed) found.push('the cluster cannot agree: what is live is told as the node that answers has it');
  for (const { nodeId, healthy, lag, clockOffsetSeconds } of cluster.members) {
    if (healthy === false) found.push(`node ${nodeId} is not heard of`);
    if ((lag ?? 0) > lagMax) found.push(`node ${nodeId} is ${lag} entries behind`);
    if (Math.abs(clockOffsetSeconds ?? 0) > clockOffsetMax)
      found.push(`the clock of node ${nodeId} is off by ${clockOffsetSeconds} s`);
  }
  for (const { node, unreachable, diskFreeBytes = Number.POSITIVE_INFINITY, openBreakers, storeProblem } of nodes) {
    if (storeProblem !== null) found.push(`the store of node ${node} takes no write: ${storeProblem}`);
    if (unreachable !== undefined) found.push(`the API of node ${node} does not answer: ${unreachable}`);
    if (diskFreeBytes < diskFreeMin) found.push(`the disk of node ${node} has ${bytesText(diskFreeBytes)} left`);
    for (const destination of openBreakers)
      found.push(`the circuit of destination ${destination} is open on node ${node}`);
  }
  for (const { listener, certificate, days } of certificatesOf(nodes))
    if (days < daysMin)
      found.push(
        `certificate ${certificate} of ${listener || 'the API'} ${days < 0 ? 'has ended' : `ends in ${days} days`}`,
      );
  for (const { id, state, problems, listeners } of fleet.proxies) {
    if (state === 'refused' || state === 'disconnected')
      found.push(`proxy ${id} ${state === 'refused' ? 'refuses what is active' : 'is disconnected'}`);
    for (const { pointer, message } of problems) found.push(`proxy ${id}: ${pointer} ${message}`);
    for (const listener of listeners)
      if (listener.state !== 'open')
        found.push(
          `proxy ${id}: listener ${listener.id} is ${listener.state}${listener.reason ? `: ${listener.reason}` : ''}`,
        );
  }
  for (const node of fleet.unreachableNodes) found.push(`node ${node} tells nothing of its proxies`);
  if (active?.confirmBy !== undefined)
    found.push(`${JSON.stringify(active.name)} goes back at ${active.confirmBy} unless it is confirmed`);
  if (rollout?.state === 'paused') found.push(`the rollout ${rollout.id} is paused at ${rollout.share} %`);
  return found;
}

/** Certificates of all nodes, each once, those that end first in front. */
export function certificatesOf(nodes: readonly NodeReport[]) {
  const all = new Map(
    nodes.flatMap(({ certificates }) =>
      certificates.map((each) => [`${each.listener} ${each.certificate} ${each.endsAt}`, each]),
    ),
  );
  return [...all.values()]
    .map((each) => ({ ...each, days: Math.floor((each.endsAt * 1000 - Date.now()) / 86_400_000) }))
    .sort((a, b) => a.days - b.days);
}

export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const at = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** at).toFixed(at === 0 ? 0 : 1)} ${units[at]}`;
}

export const confirmText = (confirmBy: string): string =>
  `${durationText(Math.max(0, Date.parse(confirmBy) - Date.now()))} left`;
