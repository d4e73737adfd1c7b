// A whole cluster in one thread of simulated time: builds it from a plan, runs the safety phase with its faults and
// then the liveness phase without, and says what was broken.
import type { Message } from '../../core/message.ts';
import { type Config, emptyConfig } from '../../core/types.ts';
import type { CheckpointImage } from '../../driver/host.ts';
import type { Operation } from '../history/history.ts';
import { checkRevisionOrder } from '../history/revision-order.ts';
import { searchOrder } from '../history/search.ts';
import { CalmChecks } from './calm.ts';
import { Chance } from './chance.ts';
import type { Later } from './checkpoint-shelf.ts';
import { Checks, slotOf } from './checks.ts';
import { ContentChecks } from './content-checks.ts';
import type { DiskOperation } from './disk-operations.ts';
import { EventQueue, type SimEvent } from './event-queue.ts';
import type { FaultKind } from './fault.ts';
import { Ghost } from './ghost.ts';
import { Nemesis } from './nemesis.ts';
import { SimNetwork } from './network.ts';
import { Onlookers } from './onlookers.ts';
import { Patience } from './patience.ts';
import type { Plan } from './plan.ts';
import { type NodeWorld, SimNode } from './sim-node.ts';
import { type MachineState, mix } from './state-machine.ts';
import { Violation } from './violation.ts';
import { Workload } from './workload.ts';

export interface RunResult {
  readonly violation: Violation | undefined;
  readonly events: number;
  readonly simulatedMs: number;
  /** Of everything that happened, in order: equal for equal seeds. */
  readonly hash: number;
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly messages: {
    readonly sent: number;
    readonly lost: number;
    readonly duplicated: number;
    readonly replayed: number;
  };
  /** The liveness phase took place: enough was left to promise something. */
  readonly hasPeace: boolean;
  readonly elections: number;
  readonly acknowledged: number;
  readonly committed: number;
  /** What each machine did to its disks, by kind. */
  readonly diskOperations: readonly ReadonlyMap<DiskOperation, number>[];
}

const livenessLimitMs = 60_000;

export class World {
  readonly plan: Plan;
  readonly #queue = new EventQueue();
  readonly #chance: Chance;
  readonly nodes: SimNode[] = [];
  readonly network: SimNetwork;
  readonly ghost: Ghost;
  readonly checks: Checks;
  readonly contents: ContentChecks;
  readonly patience: Patience;
  readonly calm: CalmChecks;
  readonly workload: Workload;
  readonly onlookers: Onlookers;
  readonly nemesis: Nemesis;
  /** Content of every checkpoint file by its hash. */
  readonly #library = new Map<string, MachineState>();
  #soon: (() => void)[] = [];
  #now = 0;
  #events = 0;
  #hash = 0;
  #hasPeace = false;
  #violation: Violation | undefined;

  constructor(plan: Plan) {
    this.plan = plan;
    this.#chance = new Chance(plan.seed ^ 0x5bd1e995);
    const fail = (rule: string, detail: string) => {
      this.#violation ??= new Violation(rule, `${detail} (at ${this.#now.toFixed(1)} ms)`);
    };
    const slots = plan.nodes + plan.spares;
    this.ghost = new Ghost(fail, (op) => this.workload.registerOf(op));
    this.contents = new ContentChecks(this.ghost, fail);
    this.patience = new Patience(fail, () => this.#now);
    this.calm = new CalmChecks(plan, fail);
    this.network = new SimNetwork(slots, plan.network, this.#chance.fork(), {
      now: () => this.#now,
      deliver: (at, to, message, isWanted) => this.#deliver(at, to, message, isWanted),
    });
    for (let slot = 0; slot < slots; slot += 1)
      this.nodes.push(new SimNode(slot, this.#nodeWorld(fail), this.#chance.fork()));
    this.checks = new Checks(this.nodes, this.ghost, fail);
    this.workload = new Workload(this.nodes, plan.load, this.#chance.fork(), {
      ...this.#timeline,
      acknowledged: (op, register, index) => this.onlookers.acknowledged(op, register, index),
      lost: (node) => this.onlookers.lost(node),
    });
    const onlookersChance = new Chance(plan.seed ^ 0x1b873593);
    this.onlookers = new Onlookers(this.nodes, onlookersChance, this.contents, this.#timeline);
    this.nemesis = new Nemesis(
      { ...this.#timeline, ...this.#parts(), start: (node) => this.start(node) },
      this.#chance.fork(),
      plan.calm !== undefined,
    );
    this.#format();
  }

  get now(): number {
    return this.#now;
  }

  get violation(): Violation | undefined {
    return this.#violation;
  }

  get #timeline() {
    return {
      now: () => this.#now,
      at: (time: number, slot: number, run: () => void) => this.#queue.push(time, slot, run),
    };
  }

  #parts() {
    const { nodes, network, ghost, checks, workload } = this;
    return { nodes, network, ghost, checks, workload };
  }

  /** Entry 1 on every first member is the configuration; bootstrap itself is tested elsewhere. */
  #format(): void {
    const first = this.nodes.slice(0, this.plan.nodes);
    const config: Config = {
      ...emptyConfig,
      voters: first.map(({ id }) => id).sort(),
      members: first.map(({ member }) => member),
    };
    this.ghost.commits('bootstrap', { index: 1, term: 1, time: 0, kind: 'config', config }, 0);
    this.ghost.stored('bootstrap', { index: 1, term: 1, time: 0, kind: 'config', config }, 0);
    for (const node of this.nodes) node.format(first.includes(node) ? config : undefined);
  }

  start(node: SimNode): void {
    if (node.isUp || node.isCondemned) return;
    try {
      node.start();
    } catch (error) {
      this.#violation ??= new Violation('FATAL', `${node.id} can't start: ${String(error)}`);
    }
    if (node.isUp) this.checks.started(node);
  }

  #nodeWorld(fail: (rule: string, detail: string) => void): NodeWorld {
    return {
      plan: this.plan,
      ...this.#timeline,
      soon: (run) => this.#soon.push(run),
      send: (node, message) => this.#send(node, message),
      observe: (node, event) => {
        this.#note(node.slot, event.type.length);
        this.checks.event(node, event);
        this.calm.event(node, event, this.#now);
        if (event.type === 'elected' && this.plan.tuning.probesBack) this.#probeBack(node);
      },
      durable: (node, batch, image) => {
        this.checks.durable(node, batch, image);
        for (const meta of [batch.checkpoint, batch.install?.meta])
          if (meta !== undefined) this.contents.checkpoint(node.id, meta, this.#library.get(meta.sha256));
      },
      misuse: (node, problem) => fail('STORE', `${node.id}: ${problem}`),
      host: (node) => ({
        registerOf: (op) => this.workload.registerOf(op),
        applying: (batch, state) => this.checks.applying(node, batch, state),
        applied: (state) => {
          this.checks.applied(node, state);
          this.workload.applied(node);
          this.onlookers.applied(node);
        },
        outcome: (id, outcome) => this.workload.outcome(node, id, outcome),
        readable: (id, index) => this.workload.readable(node, id, index),
        role: ({ role }) => {
          if (role === 'leader') this.workload.leads(node.slot);
        },
        writeCheckpoint: (state, done) => this.#writeCheckpoint(node, state, done),
        readCheckpoint: (meta) => (node.shelf.holds(meta) ? this.#library.get(meta.sha256) : undefined),
        adopted: (state) => this.contents.adopted(node.id, state),
      }),
      fatal: (node, reason) => this.#fatal(node, reason, fail),
    };
  }

  /** Where a leader starts to look is its own choice: the rule for appends must hold for any. */
  #probeBack(node: SimNode): void {
    const state = node.driver?.inspect();
    if (state === undefined) return;
    const { firstIndex, committed } = state.log;
    for (const peer of state.progress.values())
      peer.startTerm(Math.max(firstIndex, committed + this.#chance.integer(-1, 1)));
  }

  #writeCheckpoint(node: SimNode, state: MachineState, done: (meta: CheckpointImage | undefined) => void): void {
    if (!node.isUp || state.applied === 0) {
      done(undefined);
      return;
    }
    const { applied: index, term, time, hash } = state;
    const sha256 = `${hash.toString(16)}-${index}`;
    const size = this.plan.tuning.checkpointSize;
    const later: Later = (ms, run) => node.later(ms, run);
    node.shelf.write({ index, term, sha256, size }, later, (file) => {
      this.#library.set(sha256, state);
      done({ index, term, time, file, size, sha256 });
    });
  }

  /** A process may end itself for a disk that fails or forgot, and for nothing else. */
  #fatal(node: SimNode, reason: string, fail: (rule: string, detail: string) => void): void {
    const isExpected = reason.startsWith('log write failed') || reason.startsWith('a log write has been outstanding');
    const hasLost = reason.startsWith('this node lost data') && node.disk.isSuspect;
    if (hasLost) node.isCondemned = true;
    else if (!isExpected) fail('FATAL', `${node.id}: ${reason}`);
    this.#soon.push(() => this.nemesis.fatal(node));
  }

  #send(node: SimNode, message: Message): void {
    this.checks.sent(node, message);
    this.#note(message.term, message.type.length);
    this.network.send(node.slot, slotOf(message.to), message);
  }

  #deliver(at: number, to: number, message: Message, isWanted = () => true): void {
    this.#queue.push(at, to, () => {
      const node = this.nodes[to];
      if (node === undefined || !isWanted()) return;
      this.patience.received(node, message);
      node.receive(message);
    });
  }

  #note(a: number, b: number): void {
    this.#hash = mix(mix(this.#hash, a * 31 + b), Math.round(this.#now * 1000));
  }

  /** Runs both phases. */
  run(): RunResult {
    for (const node of this.nodes) this.#queue.push(this.#chance.between(0, 300), -1, () => this.start(node));
    for (const { at, fault } of this.plan.faults) this.#queue.push(at, -1, () => this.nemesis.strike(fault));
    this.#armCrashPoint();
    this.workload.start();
    this.onlookers.start();
    this.runUntil(this.plan.safetyMs);
    this.calm.ended(this.workload.lastAckedAt);
    if (this.#violation === undefined) this.#runLiveness();
    if (this.#violation === undefined) this.#checkHistory();
    return this.#result();
  }

  #armCrashPoint(): void {
    const { crashPoint } = this.plan;
    if (crashPoint === undefined) return;
    const { slot, operation, when } = crashPoint;
    const strike = () => this.nemesis.cutPower(this.nodes[slot]!, 500);
    this.nodes[slot]?.operations.crashAt(operation, when, () => this.#queue.push(this.#now, -1, strike));
  }

  runUntil(end: number, isDone: () => boolean = () => false): void {
    while (this.#violation === undefined && !isDone()) {
      const next = this.#queue.nextAt;
      if (next === undefined || next > end) {
        this.#now = Math.max(this.#now, end);
        return;
      }
      this.#now = Math.max(this.#now, next);
      this.#runEvent(this.#queue.pop()!);
    }
  }

  #runEvent({ slot, run }: SimEvent): void {
    const node = this.nodes[slot];
    if (node !== undefined && this.#now < node.pausedUntilMs) {
      this.#postpone(node, run);
      return;
    }
    this.#events += 1;
    run();
    for (let i = 0; i < this.#soon.length; i += 1) this.#soon[i]!();
    this.#soon.length = 0;
    if (node !== undefined) {
      this.checks.touched(node);
      this.patience.touched(node);
    }
    if (this.#events % 200 === 0) this.checks.pairwise();
    if (this.#events % 1000 === 0) this.checks.bounded();
  }

  /** A paused process finds everything that waited, in any order. */
  #postpone(node: SimNode, run: () => void): void {
    node.backlog.push(run);
    if (node.backlog.length > 1) return;
    this.#queue.push(node.pausedUntilMs, -1, () => this.#resume(node));
  }

  #resume(node: SimNode): void {
    if (this.#now < node.pausedUntilMs) {
      this.#queue.push(node.pausedUntilMs, -1, () => this.#resume(node));
      return;
    }
    const backlog = this.#chance.shuffle(node.backlog);
    node.backlog = [];
    for (const run of backlog) this.#queue.push(this.#now, node.slot, run);
  }

  /** B26: what is well elects, serves and agrees, however long the trouble before lasted. */
  #runLiveness(): void {
    const peaceAt = this.#now;
    for (const { operations } of this.nodes) operations.disarm();
    const well = this.nemesis.makePeace();
    this.#hasPeace = well.length > 0;
    if (well.length === 0) return;
    this.workload.settle();
    this.runUntil(peaceAt + 12 * 2_000, () => this.workload.lastAckedAt > peaceAt);
    if (this.#violation !== undefined) return;
    if (this.workload.lastAckedAt <= peaceAt) {
      this.#violation = new Violation('B26', `no write was acknowledged in 24 s of peace: ${this.#describe(well)}`);
      return;
    }
    this.workload.stop();
    this.runUntil(peaceAt + livenessLimitMs, () => this.#hasConverged(well));
    if (this.#violation === undefined && !this.#hasConverged(well))
      this.#violation = new Violation('B26', `no agreement in 60 s of peace: ${this.#describe(well)}`);
  }

  #hasConverged(well: readonly SimNode[]): boolean {
    if (this.workload.openCount > 0) return false;
    const config = this.ghost.newestConfig;
    const members = well.filter(({ id }) => config?.members.some((member) => member.id === id));
    return members.every(({ host, driver, isCondemned }) => {
      const isCaughtUp = host?.state.applied === this.ghost.lastCommitted && driver?.inspect().suspect === false;
      return isCaughtUp || isCondemned;
    });
  }

  #describe(well: readonly SimNode[]): string {
    const nodes = well.map((node) => {
      const state = node.driver?.inspect();
      if (state === undefined) return `${node.id} down`;
      return `${node.id} ${state.role} t${state.term} c${state.log.committed}/${state.log.lastIndex} a${node.host?.state.applied}`;
    });
    const { voters, outgoing } = this.ghost.newestConfig ?? emptyConfig;
    return `${nodes.join(', ')}; committed ${this.ghost.lastCommitted}; open ${this.workload.openCount}; voters ${voters} | ${outgoing}`;
  }

  /** B18, B20, B21. */
  #checkHistory(): void {
    const log = this.ghost.committed.map(({ op }) => op);
    const [problem] = checkRevisionOrder(this.workload.history, log);
    if (problem !== undefined) this.#violation = new Violation('B21', problem);
    else if (this.plan.seed % 20 === 0 && searchOrder(firstPart(this.workload.history)) === 'not linearizable')
      this.#violation = new Violation('B21', 'no order of the operations explains the answers');
  }

  #result(): RunResult {
    const { sent, lost, duplicated, replayed } = this.network;
    return {
      violation: this.#violation,
      events: this.#events,
      simulatedMs: this.#now,
      hash: this.#hash,
      faults: this.nemesis.counts,
      messages: { sent, lost, duplicated, replayed },
      hasPeace: this.#hasPeace,
      elections: this.ghost.elections,
      acknowledged: this.workload.acknowledged,
      committed: this.ghost.lastCommitted,
      diskOperations: this.nodes.map(({ operations }) => operations.counts),
    };
  }
}

/** The beginning of a history is a history too, if what had not ended by then counts as unanswered. */
function firstPart(history: readonly Operation[]): Operation[] {
  const cut = history[150]?.returnedAt ?? Number.POSITIVE_INFINITY;
  return history
    .filter(({ invokedAt }) => invokedAt <= cut)
    .map((each) => (each.returnedAt !== undefined && each.returnedAt <= cut ? each : { ...each, outcome: 'unknown' }));
}
