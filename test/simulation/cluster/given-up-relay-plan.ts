// Plan made for writes whose relay is given up: their node asks one leader, whose answers do not come through, then
// hears of the next one, which cannot be reached, and then hears no leader until these writes are over. The effects of
// the first leader show when the node is back.
import type { Chance } from '../../../raft/testing/sim/chance.ts';
import type { TimedFault } from '../../../raft/testing/sim/fault.ts';
import type { Plan, Tuning } from '../../../raft/testing/sim/plan.ts';

const roundMs = 16_000;
/** Longer than a write waits, from the last moment on at which one is relayed. */
const cutOffMs = 13_000;

export function givenUpRelayPlan(seed: number, chance: Chance, tuning: Tuning): Plan {
  const safetyMs = 4 * roundMs;
  const faults: TimedFault[] = [];
  for (let start = 3_000; start + roundMs < safetyMs; start += roundMs) {
    const [first = 0, next = 1, node = 2] = chance.shuffle([0, 1, 2]);
    const cutAt = start + 800;
    const transferAt = cutAt + chance.integer(200, 900);
    const lostAt = transferAt + chance.integer(20, 250);
    const until = cutAt + cutOffMs;
    const cut = (at: number, from: number, to: number): TimedFault => ({
      at,
      fault: { kind: 'oneWay', from, to, ms: until - at },
    });
    faults.push({ at: start, fault: { kind: 'transfer', to: first } });
    faults.push(cut(cutAt, first, node), cut(transferAt - 1, node, first), cut(transferAt - 1, node, next));
    faults.push({ at: transferAt, fault: { kind: 'transfer', to: next } }, cut(lostAt, next, node));
  }
  return {
    ...{ seed, nodes: 3, spares: 0, safetyMs, tuning, faults },
    network: { minDelayMs: 1, meanDelayMs: 5, loss: 0, duplicate: 0, replay: 0 },
    disk: { writeMs: 2, applyMs: 2, keepsUnsynced: false },
    load: { clients: 8, thinkMs: 150, reads: 0.1, burst: 0 },
  };
}
