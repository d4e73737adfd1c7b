// A whole cluster in one thread of simulated time: builds it from a plan, runs the safety phase with its faults and
// then the liveness phase without, and says what was broken.
import type { Message } from '../../core/message.ts';
import { type Config, emptyConfig } from '../../core/types.ts';
import { CalmChecks } from './calm.ts';
import { Chance } from './chance.ts';
import { Checks, slotOf } from './checks.ts';
import type { DiskOperation } from './disk-operations.ts';
import { EventQueue } from './event-queue.ts';
import type { FaultKind } from './fault.ts';
import { Ghost } from './ghost.ts';
import { Nemesis } from './nemesis.ts';
import { SimNetwork } from './network.ts';
import { Patience } from './patience.ts';
import type { Plan } from './plan.ts';
import type { MakeProgram, Program, ProgramWorld, Users } from './program.ts';
import { RegisterProgram } from './register-program.ts';
import { type NodeWorld, SimNode } from './sim-node.ts';
import { mix } from './state-machine.ts';
import { type Fail, Violation } from './violation.ts';

export interface RunResult {
  readonly violation: Violation | undefined;
  readonly events: number;
  readonly simulatedMs: number;
  /** Hash of all events, in order: equal for equal seeds. */
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
  /** Counts of the disk operations of each machine, by kind. */
  readonly diskOperations: readonly ReadonlyMap<DiskOperation, number>[];
}

/** Pauses wherever promises have to come to rest. */
type Steps<T> = Generator<undefined, T>;

const livenessLimitMs = 60_000;

export class World {
  readonly plan: Plan;
  readonly #queue = new EventQueue();
  readonly #chance: Chance;
  readonly nodes: SimNode[] = [];
  readonly network: SimNetwork;
  readonly ghost: Ghost;
  readonly checks: Checks;
  readonly patience: Patience;
  readonly calm: CalmChecks;
  readonly users: Users;
  readonly nemesis: Nemesis;
  readonly #program: Program;
  #soon: (() => void)[] = [];
  #now = 0;
  #events = 0;
  #hash = 0;
  #hasPeace = false;
  #violation: Violation | undefined;

  constructor(plan: Plan, makeProgram: MakeProgram = (world) => new RegisterProgram(world)) {
    this.plan = plan;
    this.#chance = new Chance(plan.seed ^ 0x5bd1e995);
    const fail = (rule: string, detail: string) => {
      this.#violation ??= new Violation(rule, `${detail} (at ${this.#now.toFixed(1)} ms)`);
    };
    const slots = plan.nodes + plan.spares;
    this.#program = makeProgram(this.#programWorld(fail));
    this.ghost = new Ghost(fail, this.#program);
    this.patience = new Patience(fail, () => this.#now);
    this.calm = new CalmChecks(plan, fail);
    this.network = new SimNetwork(slots, plan.network, this.#chance.fork(), {
      now: () => this.#now,
      deliver: (at, to, message, isWanted) => this.#deliver(at, to, message, isWanted),
    });
    for (let slot = 0; slot < slots; slot += 1)
      this.nodes.push(new SimNode(slot, this.#nodeWorld(fail), this.#chance.fork()));
    this.checks = new Checks(this.nodes, this.ghost, fail);
    this.users = this.#program.users(this.#chance.fork());
    this.nemesis = new Nemesis(
      { ...this.#timeline, ...this.#parts(), start: (node) => this.start(node), resume: (node) => this.#resume(node) },
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

  #programWorld(fail: Fail): ProgramWorld {
    const world = this;
    return {
      ...this.#timeline,
      plan: this.plan,
      fail,
      note: (a, b) => this.#note(a, b),
      get nodes() {
        return world.nodes;
      },
      get network() {
        return world.network;
      },
      get ghost() {
        return world.ghost;
      },
      get checks() {
        return world.checks;
      },
    };
  }

  #parts() {
    const { nodes, network, ghost, checks, users } = this;
    return { nodes, network, ghost, checks, users };
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
    try {
      node.start();
    } catch (error) {
      this.#violation ??= new Violation('FATAL', `${node.id} can't start: ${String(error)}`);
    }
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
        this.nemesis.durable(node);
        for (const meta of [batch.checkpoint, batch.install?.meta])
          if (meta !== undefined) this.#program.recorded(node, meta);
      },
      misuse: (node, problem) => fail('STORE', `${node.id}: ${problem}`),
      machine: (node) => this.#program.machine(node),
      started: (node) => this.checks.started(node),
      fatal: (node, reason) => this.#fatal(node, reason, fail),
    };
  }

  /**
   * Moves the probe of a leader back. A leader may start to look anywhere: the rule for appends must hold for any
   * start.
   */
  #probeBack(node: SimNode): void {
    const state = node.driver?.inspect();
    if (state === undefined) return;
    const { firstIndex, committed } = state.log;
    for (const peer of state.progress.values())
      peer.startTerm(Math.max(firstIndex, committed + this.#chance.integer(-1, 1)));
  }

  /** A process may end itself for a disk that fails or forgot, and for nothing else. */
  #fatal(node: SimNode, reason: string, fail: (rule: string, detail: string) => void): void {
    const expected = ['log write failed', 'state write failed'];
    const isExpected = expected.some((start) => reason.startsWith(start));
    const hasLost = reason.startsWith('this node lost data') && node.disk.isSuspect;
    if (hasLost) node.isCondemned = true;
    else if (!isExpected) fail('FATAL', `${node.id}: ${reason}`);
    const { driver } = node;
    const end = () => {
      if (node.driver === driver) this.nemesis.fatal(node);
    };
    if (this.#program.lingerMs === 0) this.#soon.push(end);
    else this.#queue.push(this.#now + this.#program.lingerMs, -1, end);
  }

  #send(node: SimNode, message: Message): void {
    this.checks.sent(node, message);
    this.#note(message.term, message.type.length);
    this.network.send(node.slot, slotOf(message.to), message);
  }

  #deliver(at: number, to: number, message: Message, isWanted?: () => boolean): void {
    this.#queue.push(at, to, () => {
      const node = this.nodes[to];
      if (node === undefined || isWanted?.() === false) return;
      this.patience.received(node, message);
      node.receive(message);
    });
  }

  #note(a: number, b: number): void {
    this.#hash = mix(mix(this.#hash, a * 31 + b), Math.round(this.#now * 1000));
  }

  /** Runs both phases, for a program without promises. */
  run(): RunResult {
    for (const steps = this.#steps(); ; ) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  }

  /** The same for one with promises: they come to rest after each event that may have begun or ended some. */
  async settled(): Promise<RunResult> {
    for (const steps = this.#steps(); ; ) {
      const step = steps.next();
      if (step.done) return step.value;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  *#steps(): Steps<RunResult> {
    for (const node of this.nodes) this.#queue.push(this.#chance.between(0, 300), -1, () => this.start(node));
    for (const { at, fault } of this.plan.faults) this.#queue.push(at, -1, () => this.nemesis.strike(fault));
    this.#armCrashPoint();
    this.users.start();
    yield* this.#runUntil(this.plan.safetyMs);
    this.calm.ended(this.users.lastAckedAt);
    if (this.#violation === undefined) yield* this.#runLiveness();
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

  *#runUntil(end: number, isDone: () => boolean = () => false): Steps<void> {
    while (this.#violation === undefined && !isDone()) {
      const next = this.#queue.nextAt;
      if (next === undefined || next > end) {
        this.#now = Math.max(this.#now, end);
        return;
      }
      this.#now = Math.max(this.#now, next);
      const { slot, run } = this.#queue.pop()!;
      const node = slot < 0 ? undefined : this.nodes[slot];
      if (node !== undefined && this.#now < node.pausedUntilMs) {
        this.#postpone(node, run);
        continue;
      }
      this.#events += 1;
      run();
      this.#runSoon();
      while (this.#program.takeUnsettled()) {
        yield;
        this.#runSoon();
      }
      this.#check(node);
    }
  }

  #check(node: SimNode | undefined): void {
    if (node !== undefined) {
      this.checks.touched(node);
      this.patience.touched(node);
      this.#program.touched(node);
    }
    if (this.#events % 200 === 0) this.checks.pairwise();
    if (this.#events % 1000 === 0) this.checks.bounded();
  }

  #runSoon(): void {
    if (this.#soon.length === 0) return;
    for (let i = 0; i < this.#soon.length; i += 1) this.#soon[i]!();
    this.#soon = [];
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
  *#runLiveness(): Steps<void> {
    const peaceAt = this.#now;
    for (const { operations } of this.nodes) operations.disarm();
    const well = this.nemesis.makePeace();
    this.#hasPeace = well.length > 0;
    if (well.length === 0) return;
    this.users.settle(well);
    yield* this.#runUntil(peaceAt + 12 * 2_000, () => this.users.lastAckedAt > peaceAt);
    if (this.#violation !== undefined) return;
    if (this.users.lastAckedAt <= peaceAt) {
      this.#violation = new Violation('B26', `no write was acknowledged in 24 s of peace: ${this.#describe(well)}`);
      return;
    }
    this.users.stop();
    yield* this.#runUntil(peaceAt + livenessLimitMs, () => this.#hasConverged(well));
    if (this.#violation === undefined && !this.#hasConverged(well))
      this.#violation = new Violation('B26', `no agreement in 60 s of peace: ${this.#describe(well)}`);
  }

  #hasConverged(well: readonly SimNode[]): boolean {
    if (this.users.openCount > 0) return false;
    const config = this.ghost.newestConfig;
    const members = well.filter(({ id }) => config?.members.some((member) => member.id === id));
    return members.every(({ host, driver, isCondemned }) => {
      const isCaughtUp = host?.applied === this.ghost.lastCommitted && driver?.inspect().suspect === false;
      return isCaughtUp || isCondemned;
    });
  }

  #describe(well: readonly SimNode[]): string {
    const nodes = well.map((node) => {
      const state = node.driver?.inspect();
      if (state === undefined) return `${node.id} down`;
      return `${node.id} ${state.role} t${state.term} c${state.log.committed}/${state.log.lastIndex} a${node.host?.applied}`;
    });
    const { voters, outgoing } = this.ghost.newestConfig ?? emptyConfig;
    return `${nodes.join(', ')}; committed ${this.ghost.lastCommitted}; open ${this.users.openCount}; voters ${voters} | ${outgoing}`;
  }

  #checkHistory(): void {
    const flaw = this.#program.flawOfHistory();
    if (flaw !== undefined) this.#violation = new Violation(...flaw);
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
      acknowledged: this.users.acknowledged,
      committed: this.ghost.lastCommitted,
      diskOperations: this.nodes.map(({ operations }) => operations.counts),
    };
  }
}
