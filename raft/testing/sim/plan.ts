// What happens in one seed: cluster, network, disks, load and faults, all drawn from the seed before it starts.
// "Swarm" drawing: each seed switches each kind of fault on or off, so that no kind hides another.
import type { Message } from '../../core/message.ts';
import { Chance } from './chance.ts';
import type { CrashMoment } from './disk-operations.ts';
import type { Fault, FaultKind, MemberOp, TimedFault } from './fault.ts';

export interface Plan {
  readonly seed: number;
  readonly nodes: number;
  /** Slots beyond the first members; they run, empty, until an operator adds them. */
  readonly spares: number;
  readonly safetyMs: number;
  readonly network: NetworkPlan;
  readonly disk: DiskPlan;
  readonly load: LoadPlan;
  readonly tuning: Tuning;
  readonly faults: readonly TimedFault[];
  /** Nothing is wrong but what is named: not one election may take place after the first. */
  readonly calm?: 'pauses' | 'rejoins' | 'partial';
  readonly crashPoint?: CrashPoint;
}

/** The machine loses power around one operation of its disks. */
export interface CrashPoint {
  readonly slot: number;
  /** Counted from 1 over all lives of the machine. */
  readonly operation: number;
  readonly when: CrashMoment;
}

export interface NetworkPlan {
  readonly minDelayMs: number;
  readonly meanDelayMs: number;
  readonly loss: number;
  readonly duplicate: number;
  /** Probability that a message is delivered once more, long after, perhaps to the next life of its receiver. */
  readonly replay: number;
}

interface DiskPlan {
  readonly writeMs: number;
  readonly applyMs: number;
  /** A power loss keeps single unsynced batches instead of losing all. */
  readonly keepsUnsynced: boolean;
}

export interface LoadPlan {
  readonly clients: number;
  readonly thinkMs: number;
  readonly reads: number;
  /** Now and then a client asks for so many writes at once: a leader that is cut off gathers a long tail. */
  readonly burst: number;
  /** So many of the clients know at any time who leads. */
  readonly informed?: number;
}

interface Tuning {
  readonly windowMessages: number;
  readonly appendBytes: number;
  readonly batchEntries: number;
  readonly checkpointEntries: number;
  readonly trailingEntries: number;
  readonly checkpointSize: number;
  readonly chunkBytes: number;
  readonly applyCredit: number;
  /** New leaders look for agreement far back, as leaders of other versions may. */
  readonly probesBack: boolean;
}

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
  if (options.nodes === undefined && seed % 25 === 11) return partialPlan(seed, safetyMs, chance, tuning);
  if (options.nodes === undefined && seed % 25 === 18) return disorderPlan(seed, safetyMs, chance, tuning);
  const faults = drawFaults(chance.fork(), { slots: nodes + spares, safetyMs, hasChurn });
  return { seed, nodes, spares, safetyMs, network, disk, load, tuning, faults };
}

const calmSurroundings = {
  network: { minDelayMs: 1, meanDelayMs: 20, loss: 0, duplicate: 0, replay: 0 },
  disk: { writeMs: 2, applyMs: 2, keepsUnsynced: false },
  load: { clients: 3, thinkMs: 150, reads: 0.3, burst: 0 },
};

/** One follower at a time pauses, or is cut off and comes back, while a learner joins by a checkpoint. */
function calmPlan(seed: number, nodes: number, safetyMs: number, chance: Chance, tuning: Tuning): Plan {
  const calm = chance.pick(['pauses', 'rejoins'] as const);
  const faults: TimedFault[] = [
    { at: 8_000, fault: { kind: 'member', op: 'addLearner', slot: nodes, other: nodes, twice: false } },
  ];
  for (let at = 10_000; at < safetyMs - 8_000; at += 8_000) {
    const slot = chance.below(nodes);
    const ms = chance.between(500, 5_000);
    faults.push({ at, fault: calm === 'pauses' ? { kind: 'pause', slot, ms } : { kind: 'isolate', slot, ms } });
  }
  return {
    seed,
    nodes,
    spares: 1,
    safetyMs,
    ...calmSurroundings,
    tuning,
    faults,
    calm,
  };
}

/** Pairs of nodes that hear each other, while no other pair does. */
const partialGraphs: readonly { readonly nodes: number; readonly links: readonly (readonly [number, number])[] }[] = [
  // Only the one in the middle hears both others.
  {
    nodes: 3,
    links: [
      [0, 1],
      [1, 2],
    ],
  },
  // Only the one in the middle hears a quorum.
  {
    nodes: 5,
    links: [
      [0, 1],
      [0, 2],
      [0, 3],
      [0, 4],
    ],
  },
  // Three hear a quorum each, and each another one.
  {
    nodes: 5,
    links: [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
    ],
  },
  {
    nodes: 5,
    links: [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 0],
    ],
  },
];

/** Nothing fails, but half of the links are gone from some moment on: a leader that hears a quorum must stay. */
function partialPlan(seed: number, safetyMs: number, chance: Chance, tuning: Tuning): Plan {
  const { nodes, links } = chance.pick(partialGraphs);
  const at = 8_000;
  const faults: TimedFault[] = [];
  for (let from = 0; from < nodes; from += 1) {
    for (let to = 0; to < nodes; to += 1) {
      const isKept = from === to || links.some((link) => link.includes(from) && link.includes(to));
      if (!isKept) faults.push({ at, fault: { kind: 'oneWay', from, to, ms: safetyMs - at } });
    }
  }
  // Clients that look for the leader may miss one that serves, for as long as the check waits.
  const load = { ...calmSurroundings.load, informed: 1 };
  return { ...calmSurroundings, load, seed, nodes, spares: 0, safetyMs, tuning, faults, calm: 'partial' };
}

/**
 * Messages overtake each other all the time, logs are compacted at once, and peers are sent checkpoints while the appends
 * that these replace are still on their way.
 */
function disorderPlan(seed: number, safetyMs: number, chance: Chance, drawn: Tuning): Plan {
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

/**
 * Three nodes, about forty writes, small checkpoints and a learner that needs one; nothing fails but, with a crash
 * point, one machine once. `keepsUnsynced`: it loses some of what was not synced instead of all.
 */
export function crashPointPlan(seed: number, keepsUnsynced: boolean, crashPoint?: CrashPoint): Plan {
  return {
    seed,
    nodes: 3,
    spares: 1,
    safetyMs: 6_000,
    network: { minDelayMs: 0.1, meanDelayMs: 2, loss: 0, duplicate: 0, replay: 0 },
    disk: { writeMs: 5, applyMs: 2, keepsUnsynced },
    load: { clients: 3, thinkMs: 150, reads: 0.2, burst: 0 },
    tuning: {
      ...{ windowMessages: 8, appendBytes: 400, batchEntries: 4, checkpointEntries: 8, trailingEntries: 2 },
      ...{ checkpointSize: 300, chunkBytes: 128, applyCredit: 100, probesBack: false },
    },
    faults: [{ at: 4_000, fault: { kind: 'member', op: 'addLearner', slot: 3, other: 3, twice: false } }],
    ...(crashPoint && { crashPoint }),
  };
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

interface Scope {
  readonly slots: number;
  readonly safetyMs: number;
  readonly hasChurn: boolean;
}

/** How each kind is drawn; a kind that is on strikes about every `everyMs`. */
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
