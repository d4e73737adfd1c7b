// Draws the plan of a seed. "Swarm" drawing: each seed switches each kind of fault on or off, so that no kind hides another.
// Some seeds get a plan that is made for something in particular.
import type { Message } from '../../core/message.ts';
import { Chance } from './chance.ts';
import {
  calmPlan,
  largeEntriesPlan,
  lastWordPlan,
  overtakenPlan,
  partialPlan,
  restartedTransferPlan,
  shrinkingPlan,
  slowWritePlan,
} from './directed-plans.ts';
import type { Fault, FaultKind, MemberOp, TimedFault } from './fault.ts';
import type { DiskPlan, LoadPlan, NetworkPlan, Plan, Tuning } from './plan.ts';

export interface PlanOptions {
  readonly nodes?: number;
  readonly safetyMs?: number;
}

export function drawPlan(seed: number, options: PlanOptions = {}): Plan {
  const chance = new Chance(seed);
  const nodes = options.nodes ?? chance.pick([1, 2, 3, 3, 3, 3, 4, 5, 5, 7]);
  const safetyMs = options.safetyMs ?? 60_000;
  const hasChurn = chance.happens(0.4);
  const spares = hasChurn ? chance.integer(1, 2) : 0;
  const network = drawNetwork(chance);
  const disk = drawDisk(chance);
  const load = drawLoad(chance, seed);
  const tuning = drawTuning(chance);
  if (nodes >= 3 && seed % 25 === 0) return calmPlan(seed, nodes, safetyMs, chance, tuning);
  const made = options.nodes === undefined ? directed[seed % 25] : undefined;
  if (made !== undefined) return made(seed, chance, tuning, safetyMs);
  const faults = drawFaults(chance.fork(), { slots: nodes + spares, safetyMs, hasChurn });
  return { seed, nodes, spares, safetyMs, network, disk, load, tuning, faults };
}

/**
 * Messages overtake each other all the time, logs are compacted at once, and peers are sent checkpoints while the appends
 * that these replace are still on their way.
 */
function disorderPlan(seed: number, chance: Chance, drawn: Tuning, safetyMs: number): Plan {
  const nodes = 3;
  // Of many pieces, so that much happens during a transfer, or of one or two that overtake the appends.
  const hasPieces = chance.happens(0.5);
  const faults: TimedFault[] = [];
  const every = (meanMs: number, fault: () => Fault) => {
    for (let at = chance.exponential(meanMs); at < safetyMs; at += chance.exponential(meanMs))
      faults.push({ at: Math.round(at), fault: fault() });
  };
  every(400, () => kinds.unreachable(chance, nodes));
  every(500, () => kinds.checkpoint(chance, nodes));
  every(4_000, () => ({ kind: 'isolate', slot: chance.below(nodes), ms: chance.exponential(1_500) }));
  every(hasPieces ? 2_000 : 4_000, () => kinds.clog(chance, nodes));
  every(5_000, () => kinds.burst(chance, nodes));
  const tuning: Tuning = {
    ...drawn,
    ...{ windowMessages: chance.pick([8, 64]), appendBytes: 100, checkpointEntries: chance.integer(3, 12) },
    ...{ trailingEntries: 0, checkpointSize: hasPieces ? 1_000 : chance.pick([1, 300]) },
    chunkBytes: hasPieces ? 24 : 512,
  };
  return {
    ...{ seed, nodes, spares: 0, safetyMs, tuning },
    network: {
      ...{ minDelayMs: 0.1, meanDelayMs: chance.pick([5, 50, 100, 200]), loss: 0.02 },
      ...{ duplicate: chance.pick([0.1, 0.5]), replay: chance.pick([0, 0.02]) },
    },
    disk: { writeMs: chance.pick([0.5, 5]), applyMs: 2, keepsUnsynced: false },
    load: { clients: 6, thinkMs: 50, reads: 0.1, burst: chance.pick([0, 20]) },
    faults: faults.sort((a, b) => a.at - b.at),
  };
}

/** Drawn by no seed of a campaign. */
export function drawLargeEntries(seed: number): Plan {
  const chance = new Chance(seed);
  return largeEntriesPlan(seed, chance, drawTuning(chance));
}

function drawNetwork(chance: Chance): NetworkPlan {
  const isSlow = chance.happens(0.25);
  return {
    minDelayMs: isSlow ? chance.between(1, 30) : chance.between(0.05, 1),
    meanDelayMs: isSlow ? chance.between(30, 100) : chance.between(0.2, 10),
    loss: chance.happens(0.5) ? chance.between(0, 0.3) ** 2 * 3 : 0,
    duplicate: chance.happens(0.4) ? chance.between(0, 0.5) : 0,
    replay: chance.happens(0.3) ? chance.between(0, 0.02) : 0,
  };
}

function drawLoad(chance: Chance, seed: number): LoadPlan {
  // Drawn apart: seeds without bursts are what they were before there were any.
  const bursts = new Chance(seed ^ 0x2545f491);
  return {
    clients: chance.integer(1, 6),
    thinkMs: chance.pick([50, 150, 400]),
    reads: chance.between(0, 0.6),
    burst: bursts.happens(0.25) ? bursts.integer(10, 80) : 0,
  };
}

function drawDisk(chance: Chance): DiskPlan {
  return {
    writeMs: chance.pick([0.5, 2, 5, 10, 30]),
    applyMs: chance.pick([0.5, 2, 10]),
    keepsUnsynced: chance.happens(0.5),
  };
}

function drawTuning(chance: Chance): Tuning {
  const pressed = chance.happens(0.6);
  return {
    windowMessages: chance.pick([1, 2, 8, 64]),
    appendBytes: chance.pick([100, 100, 400, 4_000, 256 * 1024]),
    batchEntries: chance.pick([1, 4, 256]),
    checkpointEntries: pressed ? chance.integer(5, 50) : 400,
    trailingEntries: pressed ? chance.integer(0, 10) : 100,
    checkpointSize: chance.pick([1, 300, 2_000]),
    chunkBytes: chance.pick([128, 512]),
    applyCredit: chance.pick([100, 8 * 1024 * 1024]),
    probesBack: chance.happens(0.5),
  };
}

/** By the seed's remainder of 25. */
const directed: Readonly<Record<number, (seed: number, chance: Chance, tuning: Tuning, safetyMs: number) => Plan>> = {
  11: partialPlan,
  12: shrinkingPlan,
  16: overtakenPlan,
  18: disorderPlan,
  19: lastWordPlan,
  22: slowWritePlan,
  23: restartedTransferPlan,
};

interface Scope {
  readonly slots: number;
  readonly safetyMs: number;
  readonly hasChurn: boolean;
}

/** Generators of faults by kind; a kind that is enabled strikes about every `everyMs`. */
const kinds: Record<FaultKind, (chance: Chance, slots: number) => Fault> = {
  crash: (c, n) => ({ kind: 'crash', slot: c.below(n), downMs: c.exponential(1_500) }),
  powerLoss: (c, n) => ({ kind: 'powerLoss', slot: c.below(n), downMs: c.exponential(1_500) }),
  blackout: (c) => ({ kind: 'blackout', downMs: c.exponential(500) }),
  stop: (c, n) => ({ kind: 'stop', slot: c.below(n), downMs: c.exponential(500) }),
  pause: (c, n) => ({ kind: 'pause', slot: c.below(n), ms: c.pick([c.between(100, 3_000), c.between(1_000, 10_000)]) }),
  partition: (c, n) => ({
    kind: 'partition',
    sides: Array.from({ length: n }, () => c.below(2)),
    ms: c.pick([1_000, 1_500, c.exponential(5_000)]),
  }),
  oneWay: (c, n) => ({ kind: 'oneWay', from: c.below(n), to: c.below(n), ms: c.exponential(5_000) }),
  isolate: (c, n) => ({ kind: 'isolate', slot: c.below(n), ms: c.exponential(4_000) }),
  bridge: (c, n) => ({ kind: 'bridge', slot: c.below(n), ms: c.exponential(6_000) }),
  clog: (c, n) => ({ kind: 'clog', from: c.below(n), to: c.below(n), ms: c.between(0, 5_000) }),
  loseKind: (c) => ({ kind: 'loseKind', message: c.pick(losable), ms: c.exponential(4_000) }),
  burst: (c) => ({ kind: 'burst', ms: c.exponential(2_000), delayMs: c.between(100, 2_000) }),
  diskStall: (c, n) => ({
    kind: 'diskStall',
    slot: c.below(n),
    ms: c.pick([c.between(100, 2_000), c.between(500, 15_000)]),
  }),
  slowDisk: (c, n) => ({ kind: 'slowDisk', slot: c.below(n), ms: c.exponential(8_000), writeMs: c.between(50, 1_000) }),
  writeError: (c, n) => ({ kind: 'writeError', slot: c.below(n), downMs: c.exponential(3_000) }),
  tornTail: (c, n) => ({ kind: 'tornTail', slot: c.below(n), entries: c.integer(0, 5), downMs: c.exponential(1_500) }),
  corruption: (c, n) => ({ kind: 'corruption', slot: c.below(n) }),
  clockRate: (c, n) => ({ kind: 'clockRate', slot: c.below(n), rate: c.between(0.5, 2), ms: c.exponential(10_000) }),
  clockJump: (c, n) => ({ kind: 'clockJump', slot: c.below(n), ms: c.between(-1, 1) * 7_200_000 }),
  hostStall: (c, n) => ({ kind: 'hostStall', slot: c.below(n), ms: c.between(100, 8_000) }),
  unreachable: (c, n) => ({ kind: 'unreachable', slot: c.below(n), other: c.below(n) }),
  transfer: (c, n) => ({ kind: 'transfer', to: c.happens(0.3) ? undefined : c.below(n) }),
  checkpoint: (c, n) => ({ kind: 'checkpoint', slot: c.below(n) }),
  member: (c, n) => ({
    kind: 'member',
    op: c.pick<MemberOp>([
      'addLearner',
      'addLearner',
      'promote',
      'replace',
      'replace',
      'replace',
      'remove',
      'demote',
      'update',
    ]),
    slot: c.below(n),
    other: c.below(n),
    twice: c.happens(0.4),
  }),
  wipe: (c, n) => ({ kind: 'wipe', slot: c.below(n), downMs: c.exponential(2_000) }),
  forgetVote: (c, n) => ({
    kind: 'forgetVote',
    slot: c.below(n),
    downMs: c.exponential(300),
    ms: c.exponential(3_000),
  }),
};

/** Whole kinds of messages vanish for a while: the narrow windows between them grow wide. */
const losable: readonly Message['type'][] = [
  'vote',
  'voteResp',
  'preVoteResp',
  'append',
  'appendResp',
  'heartbeatResp',
  'checkpointBegin',
  'checkpointAck',
];

const rare: readonly FaultKind[] = ['corruption', 'tornTail', 'wipe', 'writeError', 'blackout'];
const churn: readonly FaultKind[] = ['member', 'wipe'];

function drawFaults(chance: Chance, { slots, safetyMs, hasChurn }: Scope): TimedFault[] {
  const faults: TimedFault[] = [];
  for (const kind of Object.keys(kinds) as FaultKind[]) {
    const isOn = churn.includes(kind) ? hasChurn : chance.happens(0.35);
    if (!isOn) continue;
    const everyMs = rare.includes(kind) ? chance.between(20_000, 60_000) : chance.between(3_000, 20_000);
    const first = chance.exponential(everyMs);
    for (let at = first; at < safetyMs; at += chance.exponential(kind === 'member' ? 2_500 : everyMs))
      faults.push({ at: Math.round(at), fault: kinds[kind](chance, slots) });
  }
  return faults.sort((a, b) => a.at - b.at);
}
