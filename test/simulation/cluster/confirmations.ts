// Activations that are not confirmed, in a cluster whose clocks jump by an hour, whose leaders die and whose nodes all start again:
// each goes back in its time, or at most five seconds of a leader's later.

import { Chance } from '../../../raft/testing/sim/chance.ts';
import type { TimedFault } from '../../../raft/testing/sim/fault.ts';
import type { Plan } from '../../../raft/testing/sim/plan.ts';
import type { ProgramWorld, Users } from '../../../raft/testing/sim/program.ts';
import type { Draft } from '../../../src/state/command.ts';
import { SpecText } from '../../../src/state/spec-text.ts';
import type { NodeProcess } from './node-process.ts';

const hourMs = 3_600_000;
/** Difference of right clocks to the time of the world. */
const baseMs = 2 * hourMs;
const nodes = 3;
const safetyMs = 120_000;
const lookMs = 50;
/** The leader looks four times a second, and a start loses up to a second of what was measured. */
const earlyMs = 1_000;
const lateMs = 5_000;

/** At most one clock is wrong at a time: more of them are the clock of the cluster. */
export function confirmationPlan(seed: number): Plan {
  const chance = new Chance(seed);
  // No clock of the simulator goes below 0.
  const faults = Array.from({ length: nodes }, (_, slot): TimedFault => {
    return { at: 0, fault: { kind: 'clockJump', slot, ms: baseMs } };
  });
  for (let at = chance.between(0, 5_000); at < safetyMs; at += chance.between(500, 10_000)) {
    const [slot, ms] = [chance.below(nodes), chance.pick([-hourMs, hourMs])];
    faults.push({ at, fault: { kind: 'clockJump', slot, ms } });
    at += chance.between(200, 20_000);
    faults.push({ at, fault: { kind: 'clockJump', slot, ms: -ms } });
  }
  for (let at = 2_000; at < safetyMs; at += chance.exponential(5_000)) {
    const downMs = chance.between(100, 3_000);
    const isOfAll = chance.happens(0.4);
    faults.push({
      at,
      fault: isOfAll ? { kind: 'blackout', downMs } : { kind: 'crash', slot: chance.below(nodes), downMs },
    });
  }
  return {
    ...{ seed, nodes, spares: 0, safetyMs, faults: faults.sort((one, other) => one.at - other.at) },
    network: { minDelayMs: 1, meanDelayMs: 3, loss: 0, duplicate: 0, replay: 0 },
    disk: { writeMs: 2, applyMs: 1, keepsUnsynced: false },
    load: { clients: 0, thinkMs: 1_000, reads: 0, burst: 0 },
    tuning: {
      ...{ windowMessages: 64, appendBytes: 4_000, batchEntries: 256, checkpointEntries: 400, trailingEntries: 100 },
      ...{ checkpointSize: 300, chunkBytes: 512, applyCredit: 100_000, probesBack: false },
    },
  };
}

/** Activation that waits for its confirmation, by the time of the world. */
interface Waiting {
  readonly index: number;
  readonly beganMs: number;
  readonly allottedMs: number;
  /** End by the log, whose time may be ahead of the clocks; before `beganMs` where it took long to be committed. */
  readonly deadlineMs: number;
  /** Milliseconds beyond its time in which there was a leader. */
  overdueMs: number;
}

/** Activates two snapshots in turns and judges when they go back. Writes on when all is well. */
export class Activators implements Users {
  readonly openCount = 0;
  acknowledged = 0;
  lastAckedAt = 0;
  /** Activations that went back in time. */
  goneBack = 0;
  readonly #world: ProgramWorld;
  readonly #chance: Chance;
  readonly #processAt: (slot: number) => NodeProcess | undefined;
  readonly #captured = new Set<string>();
  #waiting: Waiting | undefined;
  #newest = 0;
  #tags = 0;
  #isSettled = false;
  #isStopped = false;

  constructor(world: ProgramWorld, chance: Chance, processAt: (slot: number) => NodeProcess | undefined) {
    this.#world = world;
    this.#chance = chance;
    this.#processAt = processAt;
  }

  start(): void {
    this.#every(lookMs, () => this.#look());
    this.#every(1_000, () => this.#act());
  }

  settle(): void {
    this.#isSettled = true;
    this.#every(300, () => {
      const id = `route-${this.#tags}`;
      const spec = new SpecText({ id, name: id, directResponse });
      this.#propose({ op: 'put', kind: 'routes', id, mode: 'create', spec });
    });
  }

  stop(): void {
    this.#isStopped = true;
  }

  lost(): void {}

  #every(ms: number, run: () => void): void {
    const { at, now } = this.#world;
    at(now() + ms, -1, () => {
      if (this.#isStopped) return;
      run();
      this.#every(ms, run);
    });
  }

  get #processes(): NodeProcess[] {
    const all = this.#world.nodes.map(({ slot }) => this.#processAt(slot));
    return all.filter((process) => process !== undefined && !process.life.isOver) as NodeProcess[];
  }

  #act(): void {
    for (const id of ['a', 'b']) {
      if (this.#captured.has(id)) continue;
      this.#propose({ op: 'capture', id, name: id, createdAt: '2026-01-01T00:00:00.000Z', checkedAt: 0, values: {} });
      return;
    }
    const [process] = this.#processes;
    if (process === undefined || this.#waiting !== undefined) return;
    const { active, pending } = process.view;
    if (pending !== undefined) return;
    if (active === undefined) this.#propose({ op: 'activate', id: 'a' });
    else if (this.#chance.happens(0.5))
      this.#propose({ op: 'activate', id: 'b', confirmWithin: this.#chance.integer(5_000, 20_000) });
  }

  /** Asks some node once. */
  #propose(draft: Draft): void {
    const { nodes, now, at } = this.#world;
    const { slot } = this.#chance.pick(nodes);
    this.#tags += 1;
    const tagged = { ...draft, tag: this.#tags, isRepeatable: false };
    at(now(), slot, () => {
      this.#processAt(slot)
        ?.log.propose(tagged)
        .then(
          ({ status }) => {
            this.acknowledged += 1;
            this.lastAckedAt = now();
            if (draft.op === 'capture' && [201, 409].includes(Number(status))) this.#captured.add(draft.id);
          },
          () => undefined,
        );
    });
  }

  #look(): void {
    for (const { view } of this.#processes) {
      const { pending, activations } = view;
      if (pending === undefined || pending.index <= this.#newest) continue;
      const activation = activations.findLast(({ index }) => index === pending.index);
      const allottedMs = pending.deadline - Date.parse(activation?.at ?? '');
      this.#newest = pending.index;
      this.#waiting = {
        index: pending.index,
        beganMs: this.#world.now(),
        allottedMs,
        deadlineMs: pending.deadline - baseMs,
        overdueMs: 0,
      };
    }
    if (this.#waiting !== undefined) this.#judge(this.#waiting);
  }

  #judge(waiting: Waiting): void {
    const { index, beganMs, allottedMs, deadlineMs } = waiting;
    const passedMs = this.#world.now() - beganMs;
    if (this.#processes.some(({ view }) => view.applied > index && view.pending?.index !== index)) {
      const endMs = Math.min(beganMs + allottedMs, deadlineMs);
      if (!this.#isSettled && this.#world.now() < endMs - earlyMs)
        this.#fail(`went back after ${passedMs} of ${allottedMs} ms`);
      this.goneBack += 1;
      this.#waiting = undefined;
      return;
    }
    if (passedMs > allottedMs && this.#processes.some(({ log }) => log.leads)) waiting.overdueMs += lookMs;
    if (waiting.overdueMs > lateMs) this.#fail(`is live ${passedMs} ms after it began, for ${allottedMs} ms`);
  }

  #fail(detail: string): void {
    this.#world.fail('R8', `the activation at ${this.#waiting?.index} ${detail}`);
  }
}

const directResponse = { status: 200, body: '1' };
