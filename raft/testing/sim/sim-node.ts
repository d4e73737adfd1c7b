// One slot of the simulated cluster: a machine whose disks outlive its processes, and the process that runs on it,
// which is the product's driver with simulated clock, disk, network and host.
import type { Message } from '../../core/message.ts';
import type { CoreEvent } from '../../core/output.ts';
import { type Config, emptyConfig, type Member, type MemberId } from '../../core/types.ts';
import { RaftDriver } from '../../driver/driver.ts';
import type { Clock } from '../../driver/driver-clock.ts';
import { type DriverSettings, defaultDriverSettings } from '../../driver/driver-settings.ts';
import type { Transport } from '../../driver/transport.ts';
import type { OpenedLog } from '../../store/log-store.ts';
import { Chance } from './chance.ts';
import { CheckpointShelf } from './checkpoint-shelf.ts';
import { SimDisk } from './disk.ts';
import { copyImage, type DiskImage, lastIndexOf } from './disk-image.ts';
import { DiskOperations } from './disk-operations.ts';
import type { Machine, ProgramHost, Surroundings } from './machine.ts';
import type { Plan } from './plan.ts';

export const clusterId = '0123456789abcdef0123456789abcdef';

export interface NodeWorld {
  readonly plan: Plan;
  now(): number;
  /** Plans an event of this slot. */
  at(time: number, slot: number, run: () => void): void;
  soon(run: () => void): void;
  send(node: SimNode, message: Message): void;
  observe(node: SimNode, event: CoreEvent): void;
  durable(node: SimNode, ...args: Parameters<ConstructorParameters<typeof SimDisk>[2]['durable']>): void;
  misuse(node: SimNode, problem: string): void;
  machine(node: SimNode): Machine;
  /** The driver of a process runs. */
  started(node: SimNode): void;
  fatal(node: SimNode, reason: string): void;
}

export class SimNode {
  readonly slot: number;
  readonly #world: NodeWorld;
  readonly #chance: Chance;
  /** Operations of log, state and checkpoint files together. */
  readonly operations = new DiskOperations();
  disk: SimDisk;
  readonly machine: Machine;
  shelf = new CheckpointShelf(this.operations);
  /** Images of identities that were wiped or damaged since: their acknowledgements were right when they were made. */
  readonly graveyard = new Map<MemberId, Readonly<DiskImage>>();
  incarnation = 1;
  id: MemberId;
  boots = 0;
  driver: RaftDriver | undefined;
  host: ProgramHost | undefined;
  /** Counts processes: what an ended one planned never happens. */
  #life = 0;
  #isBooting = false;
  #startedAt = 0;
  #clockBase = { worldMs: 0, ownMs: 0, rate: 1 };
  #wallOffset = 0;
  pausedUntilMs = 0;
  hostStalledUntilMs = 0;
  /** Apart from what the rest of the machine draws. */
  readonly #shelfChance: Chance;
  backlog: (() => void)[] = [];
  /** True once it lost data and reported it: only a new incarnation may run here. */
  isCondemned = false;
  /** The reason of the last process's end, if it ended itself. */
  fatalReason: string | undefined;

  constructor(slot: number, world: NodeWorld, chance: Chance) {
    this.slot = slot;
    this.id = memberIdOf(slot, this.incarnation);
    this.#world = world;
    this.#chance = chance;
    this.#shelfChance = new Chance(world.plan.seed ^ (0x3c6ef372 + slot));
    this.disk = this.#newDisk();
    this.machine = world.machine(this);
  }

  #newDisk(): SimDisk {
    return new SimDisk(this.#world.plan.disk.writeMs, this.#chance.fork(), {
      operations: this.operations,
      later: (ms, done) => this.later(ms, done),
      durable: (batch, image) => this.#world.durable(this, batch, image),
      misuse: (problem) => this.#world.misuse(this, problem),
    });
  }

  get member(): Member {
    return { id: this.id, address: `n${this.slot + 1}:7000`, clientAddress: this.machine.clientAddress };
  }

  /** There is a process, if only one that is starting, or that raft has left and is not gone yet. */
  get isRunning(): boolean {
    return this.#isBooting || this.driver !== undefined;
  }

  get isUp(): boolean {
    return this.driver !== undefined && !this.driver.isDead;
  }

  get settings(): DriverSettings {
    const { tuning } = this.#world.plan;
    return {
      ...defaultDriverSettings,
      ...tuning,
      clusterId,
      id: this.id,
      checkpointBytes: 1024 * 1024,
      caughtUpEntries: 8,
    };
  }

  /** A new machine: nothing on its disks but, for a first member, the configuration of the cluster. */
  format(config: Config | undefined): void {
    this.disk = this.#newDisk();
    this.machine.format();
    this.shelf = new CheckpointShelf(this.operations);
    this.isCondemned = false;
    if (config === undefined) return;
    const image: DiskImage = {
      hardState: { term: 1, vote: undefined, commit: 1 },
      base: { index: 0, term: 0 },
      entries: [{ index: 1, term: 1, time: 0, kind: 'config', config }],
      checkpoint: undefined,
      generation: 0,
    };
    this.disk.format(image);
  }

  start(): void {
    if (this.isRunning || this.isCondemned) return;
    if (!this.#begin()) return;
    this.#life += 1;
    this.fatalReason = undefined;
    this.#startedAt = this.#world.now();
    this.#clockBase = { worldMs: this.#startedAt, ownMs: 0, rate: this.#clockBase.rate };
    const image = this.disk.open();
    if (this.#isPoisoned(image)) {
      this.isCondemned = true;
      return;
    }
    const life = this.#life;
    this.#isBooting = true;
    this.machine.boot(image.generation, this.#surroundings(), (host) => {
      if (life !== this.#life) return;
      this.#isBooting = false;
      this.#drive(image, host);
    });
  }

  #drive(image: DiskImage, host: ProgramHost): void {
    const driver = new RaftDriver(
      {
        settings: this.settings,
        store: {
          write: (batch, done) => this.disk.write(batch, this.#world.now(), done),
          poison: () => undefined,
          ...{ place: 'its disk', problem: undefined },
        },
        checkpoints: this.shelf.open((ms, run) => this.later(ms, run)),
        transport: this.#transport(),
        clock: this.#clock(),
        host,
        rng: this.#chance.fork(),
        observe: (event) => this.#world.observe(this, event),
      },
      this.#opened(image),
      host.applied,
    );
    host.attach(driver);
    this.host = host;
    this.driver = driver;
    driver.start();
    this.#sendAlive(driver);
    this.#world.started(this);
  }

  /** Prepares the disks at a start, before any answer: leftovers go, and the start is counted. */
  #begin(): boolean {
    const count = () => {
      this.boots += 1;
    };
    return this.shelf.removePartials() && this.operations.perform('start', count);
  }

  /**
   * Returns whether the start-up scan of the product would call the image poisoned: the log ends before a position that
   * is known to be committed.
   */
  #isPoisoned(image: DiskImage): boolean {
    const applied = this.machine.appliedIn(image.generation);
    if (applied < image.base.index) this.#world.misuse(this, `the state ends at ${applied}, the log begins behind it`);
    const isShort = Math.max(applied, image.hardState.commit) > lastIndexOf(image);
    if (isShort && !this.disk.isSuspect) this.#world.misuse(this, `the log ends at ${lastIndexOf(image)}`);
    return isShort;
  }

  #opened(image: DiskImage): OpenedLog {
    const { hardState, base, entries, checkpoint, generation } = image;
    const { isSuspect } = this.disk;
    return {
      identity: { nodeId: `n${this.slot + 1}`, incarnation: this.incarnation, clusterId },
      verdict: isSuspect ? { kind: 'suspect', reason: 'the tail is torn' } : { kind: 'clean' },
      boots: this.boots,
      generation,
      boot: { hardState, base, entries, checkpoint, suspect: isSuspect },
    };
  }

  #sendAlive(driver: RaftDriver): void {
    this.later(Math.max(250, this.hostStalledUntilMs - this.#world.now()), () => {
      driver.alive();
      this.#sendAlive(driver);
    });
  }

  #transport(): Transport {
    const life = this.#life;
    return {
      start: () => undefined,
      send: (message) => {
        if (life === this.#life) this.#world.send(this, message);
      },
      setPeers: () => undefined,
      close: () => undefined,
    };
  }

  #clock(): Clock {
    const life = this.#life;
    return {
      nowMs: () => Math.max(0, Math.floor(this.#world.now() + this.#wallOffset)),
      monotonicMs: () => this.#ownTime(),
      after: (ms, run) => {
        let isCancelled = false;
        this.later(ms / this.#clockBase.rate, () => {
          if (!isCancelled) run();
        });
        return () => {
          isCancelled = true;
        };
      },
      soon: (run) =>
        this.#world.soon(() => {
          if (life === this.#life) run();
        }),
    };
  }

  #ownTime(): number {
    const { worldMs, ownMs, rate } = this.#clockBase;
    return ownMs + (this.#world.now() - worldMs) * rate;
  }

  /** Time at which the process started, or its clock changed its pace. */
  get clockSetAt(): number {
    return this.#clockBase.worldMs;
  }

  setClockRate(rate: number): void {
    this.#clockBase = { worldMs: this.#world.now(), ownMs: this.#ownTime(), rate };
  }

  jumpClock(ms: number): void {
    this.#wallOffset += ms;
  }

  /** Its wall clock shows the time of the world again. */
  rightClock(): void {
    this.#wallOffset = 0;
  }

  /** Runs in this process, or never. */
  later(ms: number, run: () => void): void {
    const life = this.#life;
    this.#world.at(this.#world.now() + ms, this.slot, () => {
      if (life === this.#life) run();
    });
  }

  #surroundings(): Surroundings {
    const stalled = (ms: number) => Math.max(0, this.hostStalledUntilMs - this.#world.now()) + ms;
    return {
      clock: this.#clock(),
      later: (ms, run) => this.later(stalled(ms), run),
      applyMs: () => this.#chance.exponential(this.#world.plan.disk.applyMs),
      fatal: (reason) => {
        this.fatalReason = reason;
        this.#world.fatal(this, reason);
      },
    };
  }

  receive(message: Message): void {
    if (this.isUp) this.driver?.receive(message);
  }

  /** The process ends between two instructions; `power`: the machine does too. */
  crash(power: boolean): void {
    if (power) this.#losePower();
    else this.disk.crash();
    this.#end();
  }

  #losePower(): void {
    const { keepsUnsynced } = this.#world.plan.disk;
    this.disk.losePower(keepsUnsynced);
    this.shelf.losePower(keepsUnsynced ? this.#shelfChance : undefined);
    this.operations.powerIsBack();
  }

  #end(): void {
    this.#life += 1;
    this.#isBooting = false;
    this.driver = undefined;
    this.host = undefined;
    this.machine.ended();
    this.backlog = [];
    this.pausedUntilMs = 0;
  }

  stop(done: () => void): void {
    const { driver, host } = this;
    const stopDriver = () =>
      driver?.stop(() => {
        this.disk.crash();
        this.#end();
        done();
      });
    host?.stopping(stopDriver);
  }

  /** The same name comes back on an empty disk: another identity. */
  wipe(): void {
    this.#end();
    // What a suspect disk had lost before was acknowledged: the grave holds it already.
    if (!this.disk.isSuspect) this.graveyard.set(this.id, this.disk.durable);
    this.incarnation += 1;
    this.id = memberIdOf(this.slot, this.incarnation);
    this.boots = 0;
    this.format(undefined);
  }

  /** Acknowledged entries vanish from the end of the log. */
  tearTail(entries: number): void {
    this.graveyard.set(this.id, this.disk.durable);
    this.disk.tearTail(entries);
  }

  /** Its newest vote vanishes; false when there is none to vanish alone. */
  forgetVote(): boolean {
    this.graveyard.set(this.id, copyImage(this.disk.durable));
    return this.disk.forgetVote();
  }

  get config(): Config {
    return this.driver?.inspect().config ?? emptyConfig;
  }
}

function memberIdOf(slot: number, incarnation: number): MemberId {
  return `n${slot + 1}#${incarnation}`;
}
