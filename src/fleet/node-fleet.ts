// The fleet as one node takes part in it: its own proxy, those that follow it, and what it says for all of them.
import { randomBytes } from 'node:crypto';
import { systemClock } from '../clock.ts';
import type { Core } from '../cluster/core.ts';
import { singleNodeId } from '../cluster/log/raft-options.ts';
import { otherMembers } from '../cluster/peers/other-members.ts';
import type { ConfigSource } from '../model/proxy-config.ts';
import type { Settings } from '../settings/settings.ts';
import type { Logger } from '../telemetry/logger.ts';
import { programVersion } from '../version.ts';
import { ActivationLog } from './activation-log.ts';
import { Fleet } from './fleet.ts';
import { FleetAdmin } from './fleet-admin.ts';
import { FleetMetrics } from './fleet-metrics.ts';
import { OwnProxy } from './own-proxy.ts';

export interface NodeFleet {
  readonly fleet: Fleet;
  readonly desk: FleetAdmin;
  /** The proxy within this process. */
  readonly own: OwnProxy;
  close(): void;
}

export function nodeFleetOf(
  { controlPlane, proxy }: Settings,
  { raft, state, log, links, metrics }: Core,
  source: ConfigSource,
  logger: Logger,
): NodeFleet {
  const nodeId = controlPlane.raft?.nodeId ?? singleNodeId;
  const clock = systemClock;
  const fleet = new Fleet({
    nodeId,
    clusterId: () => raft.clusterId ?? state.identity.clusterId,
    source,
    clock,
    logger,
    newRandom: () => randomBytes(12).toString('base64url'),
    onConverged: (seconds) => fleetMetrics.converged(seconds),
  });
  const fleetMetrics = new FleetMetrics(metrics.registry, () => fleet.counts());
  const desk = new FleetAdmin({ nodeId, fleet, peers: () => otherMembers(raft, links.peers), clock, logger });
  const activations = new ActivationLog({
    record: (index) => state.view.activations.findLast((record) => record.index === index),
    converge: (...asked) => desk.converge(...asked),
    leads: () => log.leads,
    logger,
  });
  log.onActivation(({ index }) => void activations.activated(index).catch(() => undefined));
  const own = new OwnProxy({ fleet, labels: proxy.labels, version: programVersion(), clock });
  return {
    fleet,
    desk,
    own,
    close() {
      activations.close();
      own.close();
      fleet.close();
    },
  };
}
