// Plans that are made for something in particular: what hardly any draw of random faults leads to, or what must not happen
// while nothing else is wrong. The moments and the nodes are drawn anew for each seed.
import type { Chance } from './chance.ts';
import type { TimedFault } from './fault.ts';
import type { CrashPoint, Plan, Tuning } from './plan.ts';

type Surroundings = Pick<Plan, 'network' | 'disk'>;

/** Nothing is lost, late or slow by itself. */
const easy: Surroundings = {
  network: { minDelayMs: 1, meanDelayMs: 5, loss: 0, duplicate: 0, replay: 0 },
  disk: { writeMs: 2, applyMs: 2, keepsUnsynced: false },
};

/** A cluster of two becomes one of one while its leader still waits for the other to confirm that it leads. */
export function shrinkingPlan(seed: number, chance: Chance, tuning: Tuning): Plan {
  const nodes = 2;
  const at = chance.integer(5_000, 8_000);
  return {
    ...easy,
    ...{ seed, nodes, spares: 0, safetyMs: 12_000, tuning },
    load: { clients: 6, thinkMs: 50, reads: 0.5, burst: 0 },
    faults: [
      { at, fault: { kind: 'loseKind', message: 'heartbeatResp', ms: chance.between(500, 1_500) } },
      {
        at: at + chance.integer(50, 400),
        fault: { kind: 'member', op: 'remove', slot: chance.below(nodes), other: 0, twice: false },
      },
    ],
  };
}

/**
 * One of two leaves while it leads. The other is elected by its vote and sends it the first entry of its term; then power
 * fails everywhere, before the slow disk of the new leader has that entry.
 */
export function lastWordPlan(seed: number, chance: Chance, tuning: Tuning): Plan {
  const nodes = 2;
  const at = chance.integer(5_000, 8_000);
  const writeMs = chance.between(200, 500);
  return {
    ...easy,
    ...{ seed, nodes, spares: 0, safetyMs: 15_000, tuning },
    load: { clients: 3, thinkMs: 50, reads: 0.3, burst: 0 },
    faults: [
      { at: at - 1_500, fault: { kind: 'transfer', to: 0 } },
      { at: at - 100, fault: { kind: 'slowDisk', slot: 1, writeMs, ms: 4_000 } },
      { at, fault: { kind: 'member', op: chance.pick(['demote', 'remove']), slot: 0, other: 1, twice: false } },
      { at: at + writeMs * chance.between(1.5, 4), fault: { kind: 'blackout', downMs: chance.between(300, 1_000) } },
    ],
  };
}

/**
 * A disk is slow for longer than it takes to elect: its node's write of what a deposed leader sent is under way while two
 * others lead, one after the other, and replace and commit the same positions. What they sent meanwhile reaches the node
 * before its disk is done; leaders look for agreement far back.
 */
export function slowWritePlan(seed: number, chance: Chance, tuning: Tuning): Plan {
  const nodes = 5;
  const safetyMs = 56_000;
  const faults: TimedFault[] = [];
  for (let start = 5_000; start < safetyMs - 4_000; start += 9_000) {
    const [deposed = 0, slow = 1, ...rest] = chance.shuffle([0, 1, 2, 3, 4]);
    const at = start + chance.integer(400, 800);
    const ms = chance.between(3_500, 5_000);
    faults.push({ at: start, fault: { kind: 'transfer', to: deposed } });
    faults.push({ at, fault: { kind: 'diskStall', slot: slow, ms: ms + chance.between(300, 1_500) } });
    for (const other of rest) {
      faults.push({ at, fault: { kind: 'oneWay', from: deposed, to: other, ms } });
      faults.push({ at, fault: { kind: 'oneWay', from: other, to: deposed, ms } });
      faults.push({ at, fault: { kind: 'clog', from: slow, to: other, ms } });
      faults.push({ at, fault: { kind: 'clog', from: other, to: slow, ms } });
    }
    faults.push({ at: at + chance.integer(1_400, 2_400), fault: { kind: 'transfer', to: chance.pick(rest) } });
  }
  return {
    ...easy,
    ...{ seed, nodes, spares: 0, safetyMs },
    // Few writes: the second leader has to agree with the slow node just before where it writes.
    load: { clients: 6, thinkMs: 1_500, reads: 0.7, burst: 0 },
    tuning: { ...tuning, probesBack: true, checkpointEntries: 400, trailingEntries: 100 },
    faults: faults.sort((a, b) => a.at - b.at),
  };
}

/**
 * Leaders look for agreement again and again, and compact at once: a node is sent a checkpoint of one piece while the one
 * append that holds all that the checkpoint covers, and more, is still on its way.
 */
export function overtakenPlan(seed: number, chance: Chance, drawn: Tuning): Plan {
  const nodes = 3;
  const safetyMs = 30_000;
  const faults: TimedFault[] = [];
  for (let at = 2_000; at < safetyMs; at += chance.exponential(40))
    faults.push({ at, fault: { kind: 'unreachable', slot: chance.below(nodes), other: chance.below(nodes) } });
  return {
    ...{ seed, nodes, spares: 0, safetyMs, faults },
    network: { ...easy.network, minDelayMs: 0.1, meanDelayMs: chance.pick([20, 50, 100]) },
    disk: { ...easy.disk, writeMs: 0.5 },
    load: { clients: 3, thinkMs: 50, reads: 0, burst: chance.integer(10, 40) },
    tuning: {
      ...drawn,
      ...{
        windowMessages: chance.pick([8, 64]),
        appendBytes: chance.pick([400, 4_000]),
        batchEntries: chance.pick([1, 4]),
      },
      ...{ checkpointEntries: chance.integer(2, 8), trailingEntries: 0, checkpointSize: 1, chunkBytes: 512 },
    },
  };
}

/**
 * A node that is in the middle of a checkpoint of many pieces hears nothing for a while and begins anew, while pieces from
 * further on are still on their way to it; then there is peace.
 */
export function restartedTransferPlan(seed: number, chance: Chance, drawn: Tuning): Plan {
  const nodes = 3;
  const slot = chance.below(nodes);
  const others = [0, 1, 2].filter((other) => other !== slot);
  const at = chance.integer(5_000, 6_000);
  const clogAt = at + chance.integer(1_600, 2_700);
  const ms = chance.between(1_200, 3_000);
  const faults: TimedFault[] = [
    { at, fault: { kind: 'isolate', slot, ms: 1_500 } },
    ...others.map((each): TimedFault => ({ at: at + 1_200, fault: { kind: 'checkpoint', slot: each } })),
    ...others.map((from): TimedFault => ({ at: clogAt, fault: { kind: 'clog', from, to: slot, ms } })),
  ];
  return {
    ...{ seed, nodes, spares: 0, safetyMs: clogAt + ms + chance.between(50, 500), faults },
    network: { ...easy.network, minDelayMs: 0.1, meanDelayMs: chance.pick([10, 30, 60]) },
    disk: { ...easy.disk, writeMs: 0.5 },
    load: { clients: 3, thinkMs: 150, reads: 0, burst: 0 },
    tuning: {
      ...drawn,
      ...{ windowMessages: 64, appendBytes: 400, checkpointEntries: 400, trailingEntries: 0 },
      ...{ checkpointSize: 1_000, chunkBytes: 24 },
    },
  };
}

const calmSurroundings = {
  network: { minDelayMs: 1, meanDelayMs: 20, loss: 0, duplicate: 0, replay: 0 },
  disk: { writeMs: 2, applyMs: 2, keepsUnsynced: false },
  load: { clients: 3, thinkMs: 150, reads: 0.3, burst: 0 },
};

/** One follower at a time pauses, or is cut off and comes back, while a learner joins by a checkpoint. */
export function calmPlan(seed: number, nodes: number, safetyMs: number, chance: Chance, tuning: Tuning): Plan {
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

/**
 * Every four seconds an entry of many megabytes travels to all and is written, on machines that do other things: what is
 * said meanwhile waits behind its bytes, each disk works for long, and what its bytes hold up in a program is late.
 */
export function largeEntriesPlan(seed: number, chance: Chance, tuning: Tuning): Plan {
  const nodes = 3;
  const safetyMs = 40_000;
  const slots = Array.from({ length: nodes }, (_, slot) => slot);
  const faults: TimedFault[] = [];
  for (let start = 9_000; start < safetyMs - 4_000; start += 4_000) {
    const at = start + chance.integer(0, 500);
    for (const from of slots) {
      faults.push({ at, fault: { kind: 'diskStall', slot: from, ms: chance.between(200, 2_500) } });
      faults.push({ at, fault: { kind: 'hostStall', slot: from, ms: chance.between(50, 1_000) } });
      for (const to of slots) {
        if (to !== from) faults.push({ at, fault: { kind: 'clog', from, to, ms: chance.between(50, 600) } });
      }
    }
  }
  return { seed, nodes, spares: 0, safetyMs, ...calmSurroundings, tuning, faults, calm: 'rejoins' };
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
export function partialPlan(seed: number, chance: Chance, tuning: Tuning, safetyMs: number): Plan {
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
