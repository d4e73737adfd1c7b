// Desk for the leases of rate limits at a node that leads, for tests of what stands around it.
import type { Fleet } from '../../src/fleet/fleet.ts';
import { LeaseDesk } from '../../src/fleet/leases/lease-desk.ts';
import type { Clock } from '../../src/util/clock.ts';

export function leadingDesk(nodeId: string, fleet: Fleet, clock: Clock): LeaseDesk {
  const desk = new LeaseDesk({
    nodeId,
    holderOf: (token, boot) => fleet.holderOf(token, boot),
    isLive: (holder) => fleet.isHolder(holder),
    peers: async () => [],
    limits: () => [],
    clock,
  });
  desk.stands({ leads: true, term: 1, leader: nodeId });
  return desk;
}
