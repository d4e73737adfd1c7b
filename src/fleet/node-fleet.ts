// Part of one node in the fleet: its own proxy, those that follow it, and its reports for all of them.
import { randomBytes } from 'node:crypto';
import type { Core } from '../cluster/core.ts';
import { singleNodeId } from '../cluster/log/raft-options.ts';
import { otherMembers } from '../cluster/peers/other-members.ts';
import type { Feed } from '../feed/feed.ts';
import type { RolloutReport } from '../model/fleet-messages.ts';
import type { ConfigSource } from '../model/proxy-config.ts';
import type { Settings } from '../settings/settings.ts';
import type { Logger } from '../telemetry/logger.ts';
import { systemClock } from '../util/clock.ts';
import { programVersion } from '../version.ts';
import { ActivationLog } from './activation-log.ts';
import { CandidateShares } from './candidate-shares.ts';
import { Fleet } from './fleet.ts';
import { FleetAdmin } from './fleet-admin.ts';
import { FleetMetrics } from './fleet-metrics.ts';
import { LocalProxy } from './local-proxy.ts';
import { RolloutWatch } from './rollout-watch.ts';
import { Roster } from './roster.ts';

export interface NodeFleet {
  readonly fleet: Fleet;
  readonly admin: FleetAdmin;
  /** The proxy within this process. */
  readonly own: LocalProxy;
  /** Source of the configuration for the data plane of this process. */
  readonly source: ConfigSource;
  readonly shares: CandidateShares;
  /** This node shows what was agreed on before it started: a candidate that it knows of may serve. */
  caughtUp(): void;
  /** Returns the latest report of each node on the rollout under way. */
  words(): ReadonlyMap<string, RolloutReport>;
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
  const fleet = new Fleet({
    nodeId,
    shares,
    clusterId: () => raft.clusterId ?? state.identity.clusterId,
    source: feed,
    clock,
    logger,
    newRandom: () => randomBytes(12).toString('base64url'),
    onConverged: (seconds) => fleetMetrics.converged(seconds),
  });
  const fleetMetrics = new FleetMetrics(metrics.registry, () => fleet.counts());
  const peers = () => otherMembers(raft, links.peers);
  const roster = new Roster({ peers, own: () => fleet.liveIds(), clock });
  if (raft.clustered) roster.start();
  const admin = new FleetAdmin({ nodeId, fleet, roster, peers, clock, logger });
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
    caughtUp: () => watch.caughtUp(),
    words: () => watch.words(),
    source: shares.sourceOf(() => ({ id: nodeId, labels: proxy.labels })),
    close() {
      roster.close();
      watch.close();
      shares.close();
      activations.close();
      own.close();
      fleet.close();
    },
  };
}
