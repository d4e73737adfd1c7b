// Whole nodes as the program of the simulated world: the product's state machine, proposer and relay in each process.
import type { CheckpointMeta } from '../../../raft/index.ts';
import { appliedProblem } from '../../../raft/store/applied-check.ts';
import { flawOf } from '../../../raft/testing/history/flaw.ts';
import { Chance } from '../../../raft/testing/sim/chance.ts';
import type { Machine, ProgramHost, Surroundings } from '../../../raft/testing/sim/machine.ts';
import type { Program, ProgramWorld, Users } from '../../../raft/testing/sim/program.ts';
import type { SimNode } from '../../../raft/testing/sim/sim-node.ts';
import { aheadOf } from '../../../src/cluster/members/cluster-clock.ts';
import { relayKey } from '../../../src/cluster/relay/relay-credential.ts';
import type { MeasuredTime } from '../../../src/leader/confirmation-controller.ts';
import { Clients } from './clients.ts';
import { RolloutRules } from './fleet.ts';
import { Ledger } from './ledger.ts';
import { NodeProcess } from './node-process.ts';
import { SimProxies } from './proxies.ts';
import { apiAddressOf, RelayRoads } from './relay-roads.ts';
import { StateDisk } from './state-disk.ts';
import { noRegister } from './wishes.ts';

const firstDutyTag = 1_000_000;

type UsersOf = (world: ProgramWorld, chance: Chance, processAt: (slot: number) => NodeProcess | undefined) => Users;

/** Counts of the events of one run, beside the faults. */
export interface Counts {
  readonly 'writes relayed': number;
  readonly 'relayed requests that arrived again': number;
  readonly 'writes asked for again': number;
  readonly 'writes in the log again': number;
  readonly 'of these an hour of log time later': number;
  readonly 'checkpoints installed': number;
  readonly 'failed writes of a state': number;
}

export class ClusterProgram implements Program {
  readonly lingerMs = 200;
  readonly #world: ProgramWorld;
  readonly #chance: Chance;
  readonly #ledger: Ledger;
  readonly #roads: RelayRoads;
  readonly #relayKey: Uint8Array | undefined;
  readonly #processes = new Map<number, NodeProcess>();
  readonly #library = new Map<string, Uint8Array>();
  /** Applied index at which the process of each slot was checked last. */
  readonly #checked = new Map<number, number>();
  /** Highest index of an activation that each machine has shown, through all its processes: no start goes behind it. */
  readonly #activated = new Map<number, number>();
  #clients: Clients | undefined;
  readonly #usersOf: UsersOf | undefined;
  readonly #failShare: number;
  #failedWrites = 0;
  #dutyTags = 0;
  readonly #rolloutRules = new RolloutRules();
  #isUnsettled = false;
  #installed = 0;

  /** `usersOf` takes the place of the usual clients. */
  constructor(world: ProgramWorld, usersOf?: UsersOf) {
    this.#usersOf = usersOf;
    const fail = (rule: string, detail: string): void => world.fail(rule, detail);
    this.#world = world;
    this.#chance = new Chance(world.plan.seed ^ 0x1f83d9ab);
    this.#ledger = new Ledger(fail);
    this.#relayKey = this.#chance.happens(0.5) ? relayKey('the secret of the cluster') : undefined;
    const hasFailures = this.#chance.happens(0.25) && world.plan.calm === undefined;
    this.#failShare = hasFailures ? 0.003 : 0;
    this.#roads = new RelayRoads(world, this.#chance.fork(), (slot) => this.#processes.get(slot));
  }

  get counts(): Counts {
    return {
      'writes relayed': this.#roads.calls,
      'relayed requests that arrived again': this.#roads.repeated,
      'writes asked for again': this.#clients?.repeated ?? 0,
      'writes in the log again': this.#ledger.repeats,
      'of these an hour of log time later': this.#ledger.repeatsHoursApart,
      'checkpoints installed': this.#installed,
      'failed writes of a state': this.#failedWrites,
    };
  }

  machine(node: SimNode): Machine {
    const chance = this.#chance.fork();
    let disk = new StateDisk(chance);
    const confirmation = new ConfirmationNotes();
    return {
      clientAddress: apiAddressOf(node.slot),
      format: () => {
        disk = new StateDisk(chance);
        this.#activated.delete(node.slot);
        confirmation.last = undefined;
      },
      appliedIn: (generation) => disk.appliedIn(generation),
      boot: (generation, surroundings, ready) =>
        this.#boot(node, { disk, confirmation }, generation, surroundings, ready),
      ended: () => {
        disk.crash();
        this.#processes.get(node.slot)?.life.end();
        this.#processes.delete(node.slot);
        this.#checked.delete(node.slot);
      },
    };
  }

  users(chance: Chance): Users {
    const processAt = (slot: number): NodeProcess | undefined => this.#processes.get(slot);
    if (this.#usersOf !== undefined) return this.#usersOf(this.#world, chance, processAt);
    const proxies = new SimProxies(this.#world, this.#chance.fork(), processAt);
    this.#clients = new Clients({ world: this.#world, chance, ledger: this.#ledger, proxies, processAt });
    return this.#clients;
  }

  /** FNV-1a. */
  opOf(payload: Uint8Array): number {
    let hash = 0x811c9dc5;
    for (const byte of payload) hash = Math.imul(hash ^ byte, 0x01000193);
    return (hash >>> 1) + 1;
  }

  registerOf(): number {
    return 0;
  }

  /** Checks B16: a log names only checkpoints that a node wrote. */
  recorded({ id }: SimNode, { index, sha256 }: CheckpointMeta): void {
    if (!this.#library.has(sha256)) this.#world.fail('B16', `${id}: nobody wrote the checkpoint at ${index}`);
  }

  takeUnsettled(): boolean {
    const isUnsettled = this.#isUnsettled;
    this.#isUnsettled = false;
    return isUnsettled;
  }

  touched({ slot }: SimNode): void {
    const process = this.#processes.get(slot);
    if (process === undefined || process.applied === this.#checked.get(slot)) return;
    const before = this.#checked.get(slot) ?? 0;
    if (process.applied < before) this.#world.fail('P14', `node ${slot + 1} goes back from ${before}`);
    const activated = this.#activated.get(slot) ?? 0;
    const active = process.view.active?.index ?? 0;
    if (active < activated) this.#world.fail('P14', `node ${slot + 1} forgets its activation at ${activated}`);
    this.#checked.set(slot, process.applied);
    this.#activated.set(slot, active);
    this.#ledger.check(`n${slot + 1}`, process.view);
    this.#rolloutRules.check(`n${slot + 1}`, process.view, (rule, detail) => this.#world.fail(rule, detail));
    this.#world.note(process.applied, Number.parseInt(process.view.hash.slice(0, 8), 16));
  }

  /** B18, B20, B21. */
  flawOfHistory(): readonly [string, string] | undefined {
    const answered = this.#clients?.history ?? [];
    const log = this.#ledger.logFor(answered);
    // A write that was refused, or never came to pass, is a write of no register.
    const history = answered.map((one) =>
      one.kind === 'read' || this.#ledger.effectsOf(one.op).length > 0 ? one : { ...one, register: noRegister },
    );
    return flawOf(history, log, this.#world.plan.seed);
  }

  #boot(
    node: SimNode,
    { disk, confirmation }: { readonly disk: StateDisk; readonly confirmation: ConfirmationNotes },
    generation: number,
    surroundings: Surroundings,
    ready: (host: ProgramHost) => void,
  ): void {
    const { plan, fail } = this.#world;
    const nodeId = `n${node.slot + 1}`;
    this.#isUnsettled = true;
    NodeProcess.boot(
      {
        nodeId,
        disk,
        shelf: () => node.shelf,
        library: this.#library,
        checkpointSize: plan.tuning.checkpointSize,
        surroundings,
        chance: this.#chance.fork(),
        relayKey: this.#relayKey,
        connections: (caller) => this.#roads.from(node.slot, caller),
        ran: () => {
          this.#isUnsettled = true;
        },
        committed: (batch) => {
          this.#ledger.committed(batch);
          this.#world.checks.applyingUpTo(node, batch.last, batch.term);
        },
        installed: () => {
          this.#installed += 1;
        },
        failsWrite: () => this.#failsWrite(),
        tagged: (draft) => ({ ...draft, tag: this.#newTag(), isRepeatable: false }),
        fail,
        confirmation: { aheadMs: () => aheadAt(node), memory: confirmation },
      },
      generation,
    ).then(
      (process) => {
        this.#checkFit(node, process);
        this.#processes.set(node.slot, process);
        ready(process);
      },
      (error: unknown) => fail('STATE', `${nodeId} cannot open its state: ${String(error)}`),
    );
  }

  /** Behind those of the clients. */
  #newTag(): number {
    this.#dutyTags += 1;
    return firstDutyTag + this.#dutyTags;
  }

  #failsWrite(): boolean {
    const fails = !this.#clients?.isSettled && this.#chance.happens(this.#failShare);
    if (fails) this.#failedWrites += 1;
    return fails;
  }

  /** The start-up check of the product: state and log fit each other. */
  #checkFit({ disk }: SimNode, process: NodeProcess): void {
    const boot = { ...disk.durable, suspect: disk.isSuspect };
    const fault = appliedProblem(boot, { index: process.applied, term: process.appliedTerm });
    if (fault !== undefined) this.#world.fail('STATE', fault);
  }
}

/** File of a machine; what is written is on its disk at once. */
class ConfirmationNotes {
  last: MeasuredTime | undefined;

  write(measured: MeasuredTime): void {
    this.last = measured;
  }
}

function aheadAt({ driver }: SimNode): readonly number[] {
  if (driver === undefined) return [];
  const { settings, role, leader, config } = driver.inspect();
  return aheadOf({ id: settings.id, role, leader, config, clockOffsets: driver.clockOffsets });
}
