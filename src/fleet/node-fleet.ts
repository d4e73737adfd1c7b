// Part of one node in the fleet: its own proxy, those that follow it, and its reports for all of them.
import { randomBytes } from 'node:crypto';
import { identityOf } from '../../raft/index.ts';
import type { Core } from '../cluster/core.ts';
import { diskFull } from '../cluster/log/log-port.ts';
import { singleNodeId } from '../cluster/log/raft-options.ts';
import { otherMembers } from '../cluster/peers/other-members.ts';
import type { Feed } from '../feed/feed.ts';
import type { RolloutReport } from '../model/fleet-messages.ts';
import type { ReportLeases } from '../model/lease-messages.ts';
import { leasedLimits } from '../model/limit-rates.ts';
import type { MismatchSource } from '../model/mirror-mismatch.ts';
import type { ConfigSource } from '../model/proxy-config.ts';
import type { RecentSource } from '../model/recent-request.ts';
import { answerPage } from '../request-log/page-answers.ts';
import type { Settings } from '../settings/settings.ts';
import type { Logger } from '../telemetry/logger.ts';
import { FleetTraffic, type FleetTrafficOptions } from '../traffic/fleet-traffic.ts';
import type { NodeTraffic } from '../traffic/node-traffic.ts';
import { chainOfRoute } from '../traffic/route-chain.ts';
import { systemClock } from '../util/clock.ts';
import { programVersion } from '../version.ts';
import { ActivationLog } from './activation-log.ts';
import { CandidateShares } from './candidate-shares.ts';
import { Fleet } from './fleet.ts';
import { FleetAdmin } from './fleet-admin.ts';
import { FleetMetrics } from './fleet-metrics.ts';
import { type FleetRecords, fleetRecords } from './fleet-records.ts';
import { LeaseDesk } from './leases/lease-desk.ts';
import { LocalProxy } from './local-proxy.ts';
import { measureDisks } from './node-disks.ts';
import { RolloutWatch } from './rollout-watch.ts';
import { Roster } from './roster.ts';

export interface NodeFleet {
  readonly fleet: Fleet;
  readonly admin: FleetAdmin;
  /** The proxy within this process. */
  readonly own: LocalProxy;
  readonly leases: LeaseDesk;
  /** Takes reports of the proxy within this process. */
  readonly reportLeases: ReportLeases;
  /** Source of the configuration for the data plane of this process. */
  readonly source: ConfigSource;
  readonly shares: CandidateShares;
  /** This node shows what was agreed on before it started: a candidate that it knows of may serve. */
  caughtUp(): void;
  /** Returns the latest report of each node on the rollout under way. */
  words(): ReadonlyMap<string, RolloutReport>;
  /** Begins to answer for the traffic of this node; returns that of all nodes. */
  countTraffic(own: NodeTraffic, nameOf: FleetTrafficOptions['nameOf']): FleetTraffic;
  /**
   * Begins to answer for the requests that this node recorded, and for mismatches of its mirrors; returns the processes that
   * are asked for their requests.
   */
  recordRequests(own: RecentSource, mismatches: MismatchSource): (where: string | undefined) => Promise<FleetRecords>;
  /** Calls `subscriber` when proxies of any node came, left or said something. */
  subscribe(subscriber: () => void): void;
  close(): void;
}

export function nodeFleetOf(
  { controlPlane, proxy }: Settings,
  { raft, state, log, links, metrics }: Core,
  feed: Feed,
  logger: Logger,
): NodeFleet {
  const nodeId = controlPlane.raft?.nodeId ?? singleNodeId;
  const clock = systemClock;
  const shares = new CandidateShares(feed);
  const bound: { traffic?: NodeTraffic; recent?: RecentSource; mismatches?: MismatchSource } = {};
  const fleet = new Fleet({
    nodeId,
    shares,
    clusterId: () => raft.clusterId ?? state.identity.clusterId,
    source: feed,
    clock,
    logger,
    newRandom: () => randomBytes(12).toString('base64url'),
    onTraffic: (window, traffic) => bound.traffic?.take(window, traffic),
    onShadow: (counts) => fleetMetrics.compared(counts),
    onLeft: (holder) => leases.left(holder),
    onConverged: (seconds) => fleetMetrics.converged(seconds),
  });
  const fleetMetrics = new FleetMetrics(metrics.registry, () => fleet.counts());
  const peers = () => otherMembers(raft, links.peers);
  const subscribers = new Set<() => void>();
  const onChange = (): void => {
    for (const subscriber of subscribers) subscriber();
  };
  fleet.subscribe(onChange);
  const roster = new Roster({ peers, own: () => fleet.liveIds(), clock, onChange });
  if (raft.clustered) roster.start();
  const leases = new LeaseDesk({
    nodeId,
    holderOf: (token, boot) => fleet.holderOf(token, boot),
    isLive: (holder) => fleet.isHolder(holder),
    peers,
    limits: () => limitsInForce(feed),
    clock,
  });
  raft.onRole(({ role, term, leader }) =>
    leases.stands({ leads: role === 'leader', term, leader: leader && identityOf(leader.id).nodeId }),
  );
  const admin = new FleetAdmin({
    ...{ nodeId, fleet, roster, peers, clock, logger, leases },
    traffic: () => bound.traffic,
    async disks() {
      const disks = await measureDisks([controlPlane.storePath]);
      const isFull = log.leads && disks.some(({ state }) => state === 'full');
      return { disks, problem: log.failed ?? log.waits ?? (isFull ? diskFull : null) };
    },
    mismatches: () => bound.mismatches,
    recorded: (page) => bound.recent && answerPage(bound.recent, page),
  });
  const watch = new RolloutWatch({ nodeId, fleet, shares, peers, cluster: log, clock });
  const activations = new ActivationLog({
    record: (index) => state.view.activations.findLast((record) => record.index === index),
    converge: (...asked) => admin.converge(...asked),
    leads: () => log.leads,
    logger,
  });
  log.onActivation(({ index }) => void activations.activated(index).catch(() => undefined));
  const own = new LocalProxy({ fleet, labels: proxy.labels, version: programVersion(), clock });
  return {
    fleet,
    admin,
    own,
    shares,
    leases,
    reportLeases: (report) => leases.deal(fleet.ownHolder, report).catch(() => undefined),
    caughtUp: () => watch.caughtUp(),
    words: () => watch.words(),
    source: shares.sourceOf(() => ({ id: nodeId, labels: proxy.labels })),
    countTraffic(own, nameOf) {
      bound.traffic = own;
      own.start();
      const rollout = () => {
        const id = shares.news.candidate?.rollout;
        if (id === undefined) return undefined;
        const reports = [...watch.words().values()].filter((report) => report.rollout === id);
        return { id, candidate: reports.map((each) => each.candidate), stable: reports.map((each) => each.stable) };
      };
      const chainOf = (routeId: string) => (feed.current ? chainOfRoute(feed.current.snapshot, routeId) : []);
      return new FleetTraffic({ own, peers, clock, nameOf, rollout, chainOf });
    },
    recordRequests(own, mismatches) {
      bound.recent = own;
      bound.mismatches = mismatches;
      return (where) => fleetRecords(admin, nodeId, own, where);
    },
    subscribe: (subscriber) => void subscribers.add(subscriber),
    close() {
      bound.traffic?.close();
      roster.close();
      watch.close();
      shares.close();
      activations.close();
      own.close();
      fleet.close();
    },
  };
}

/** Ids of the limits of the active configuration and of the candidate. */
function limitsInForce({ current, candidate: { candidate } }: Feed): readonly string[] {
  const configs = [current, candidate?.config].filter((config) => config !== undefined);
  return configs.flatMap(({ snapshot }) => leasedLimits(snapshot.middlewares)).map(({ id }) => id);
}
