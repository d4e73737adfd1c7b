// Carries out the plan's faults, and undoes what the liveness phase needs undone.
import { isMember } from '../../core/config-change.ts';
import { type Config, emptyConfig, type Index } from '../../core/types.ts';
import type { MembershipChange } from '../../driver/driver-host.ts';
import type { Chance } from './chance.ts';
import type { Checks } from './checks.ts';
import type { DiskImage } from './disk-image.ts';
import type { Fault, FaultKind, MemberOp } from './fault.ts';
import type { Ghost } from './ghost.ts';
import { isQuorum } from './majority.ts';
import type { SimNetwork } from './network.ts';
import type { Users } from './program.ts';
import type { SimNode } from './sim-node.ts';

export interface NemesisWorld {
  readonly nodes: readonly SimNode[];
  readonly network: SimNetwork;
  readonly ghost: Ghost;
  readonly checks: Checks;
  readonly users: Users;
  now(): number;
  at(time: number, slot: number, run: () => void): void;
  start(node: SimNode): void;
  /** Resumes a paused node: messages and timers that waited for it run now. */
  resume(node: SimNode): void;
}

/** Ids of membership proposals, apart from those of client operations. */
const firstProposal = 1_000_000_000;

export class Nemesis {
  readonly #world: NemesisWorld;
  readonly #chance: Chance;
  readonly counts = new Map<FaultKind, number>();
  #proposals = firstProposal;
  #isOver = false;
  readonly #sparesLeader: boolean;
  /** By slot: strikes when the node there has given its next vote away. */
  readonly #armed = new Map<number, Fault & { readonly kind: 'forgetVote' }>();

  /** @param sparesLeader faults of one node do not strike the leader. */
  constructor(world: NemesisWorld, chance: Chance, sparesLeader: boolean) {
    this.#sparesLeader = sparesLeader;
    this.#world = world;
    this.#chance = chance;
  }

  strike(fault: Fault): void {
    if (this.#isOver || (this.#sparesLeader && this.#hitsLeader(fault))) return;
    if (this.#execute(fault)) this.counts.set(fault.kind, (this.counts.get(fault.kind) ?? 0) + 1);
  }

  #hitsLeader(fault: Fault): boolean {
    return 'slot' in fault && this.#world.nodes[fault.slot]?.driver?.inspect().role === 'leader';
  }

  #execute(fault: Fault): boolean {
    const { nodes, network } = this.#world;
    const until = this.#world.now() + ('ms' in fault ? fault.ms : 0);
    const node = 'slot' in fault ? nodes[fault.slot] : undefined;
    switch (fault.kind) {
      case 'partition':
        return this.#cut((from, to) => fault.sides[from] !== fault.sides[to], until);
      case 'oneWay':
        return this.#cut((from, to) => from === fault.from && to === fault.to, until);
      case 'isolate':
        return this.#cut((from, to) => (from === fault.slot) !== (to === fault.slot), until);
      case 'bridge':
        return this.#cut((from, to) => from !== to && from !== fault.slot && to !== fault.slot, until);
      case 'clog':
        network.clog(fault.from, fault.to, until);
        return true;
      case 'loseKind':
        network.loseKind(fault.message, until);
        return true;
      case 'burst':
        network.burst(until, fault.delayMs);
        return true;
      case 'blackout':
        for (const each of nodes) this.#crash(each, true, fault.downMs);
        return true;
      case 'transfer':
        return this.#transfer(fault.to);
      default:
        return node !== undefined && this.#strikeNode(fault, node);
    }
  }

  #cut(isCut: (from: number, to: number) => boolean, until: number): boolean {
    const { nodes, network } = this.#world;
    for (let from = 0; from < nodes.length; from += 1)
      for (let to = 0; to < nodes.length; to += 1) if (isCut(from, to)) network.block(from, to, until);
    return true;
  }

  #strikeNode(fault: Fault & { readonly slot: number }, node: SimNode): boolean {
    const now = this.#world.now();
    switch (fault.kind) {
      case 'crash':
      case 'powerLoss':
        return this.#crash(node, fault.kind === 'powerLoss', fault.downMs);
      case 'stop':
        if (!node.isUp) return false;
        node.stop(() => this.#ended(node, fault.downMs));
        return true;
      case 'pause':
        node.pausedUntilMs = Math.max(node.pausedUntilMs, now + fault.ms);
        return node.isUp;
      case 'diskStall':
        node.disk.stalledUntilMs = now + fault.ms;
        return true;
      case 'slowDisk':
        return this.#slowDisk(node, fault.writeMs, fault.ms);
      case 'writeError':
        node.disk.failsNext = node.isUp;
        return node.isUp;
      case 'tornTail':
        return this.#damage(node, fault.entries, fault.downMs);
      case 'corruption':
        return this.#condemn(node);
      case 'clockRate':
        node.setClockRate(fault.rate);
        this.#world.at(now + fault.ms, -1, () => node.setClockRate(1));
        return true;
      case 'clockJump':
        node.jumpClock(fault.ms);
        return true;
      case 'hostStall':
        node.hostStalledUntilMs = now + fault.ms;
        return true;
      case 'unreachable':
        node.driver?.unreachable(this.#world.nodes[fault.other]!.id);
        return node.isUp;
      case 'checkpoint':
        node.host?.makeCheckpoint();
        return node.isUp;
      case 'member':
        return this.#changeMembers(fault, node, this.#world.nodes[fault.other]!);
      case 'wipe':
        return this.#wipe(node, fault.downMs);
      case 'forgetVote':
        this.#armed.set(node.slot, fault);
        return false;
      default:
        return false;
    }
  }

  #crash(node: SimNode, power: boolean, downMs: number): boolean {
    if (!node.isRunning) return false;
    node.crash(power);
    this.#ended(node, downMs);
    return true;
  }

  /** Cuts the power of a machine in any state, a start included. */
  cutPower(node: SimNode, downMs: number): void {
    if (this.#isOver) return;
    this.counts.set('powerLoss', (this.counts.get('powerLoss') ?? 0) + 1);
    node.crash(true);
    this.#ended(node, downMs);
  }

  /** A process that is gone comes back after a while. */
  #ended(node: SimNode, downMs: number): void {
    this.#world.users.lost(node);
    this.#world.at(this.#world.now() + downMs, -1, () => this.#world.start(node));
  }

  /** A process that ended itself. In peace too one does whose write hangs since before; then it is back while writes are waited for. */
  fatal(node: SimNode): void {
    node.crash(false);
    const downMs = this.#chance.exponential(2_000);
    this.#ended(node, this.#isOver ? Math.min(downMs, 2_000) : downMs);
  }

  #slowDisk(node: SimNode, writeMs: number, ms: number): boolean {
    const { disk } = node;
    disk.writeMs = writeMs;
    // Not what it was: that may be another such fault, which ends by itself.
    this.#world.at(this.#world.now() + ms, -1, () => {
      disk.writeMs = disk.usualWriteMs;
    });
    return true;
  }

  /** True when the others can go on without this node, in every configuration that may be in force. */
  #isExpendable(node: SimNode): boolean {
    const { ghost, nodes } = this.#world;
    const configs = [ghost.newestConfig, ...nodes.map(({ config }) => config)];
    const pending = nodes.flatMap((other) => other.driver?.inspect().log.pendingConfig?.config ?? []);
    const isFine = (id: string) => id !== node.id && nodes.some((other) => other.id === id && this.#isSound(other));
    return [...configs, ...pending].every((config) => {
      if (config === undefined || !isMember(config, node.id)) return true;
      // A learner may be promoted by someone who has not noticed yet that it is gone.
      const voters = [...new Set([...config.voters, ...config.learners])];
      return isQuorum(config, isFine) && isQuorum({ ...config, voters }, isFine);
    });
  }

  #isSound(node: SimNode): boolean {
    return !node.isCondemned && !node.disk.isSuspect;
  }

  /** Loses acknowledged data at the end of the log; the scan calls it suspect. */
  #damage(node: SimNode, entries: number, downMs: number): boolean {
    if (!this.#isSound(node) || !this.#isExpendable(node)) return false;
    node.crash(true);
    node.tearTail(entries);
    this.#world.checks.torn(node);
    this.#ended(node, downMs);
    return true;
  }

  /** A disk has synced something. */
  durable(node: SimNode): void {
    const fault = this.#armed.get(node.slot);
    const { vote } = node.disk.durable.hardState;
    if (fault === undefined || this.#isOver || !node.disk.hasFreshVote || vote === node.id) return;
    this.#armed.delete(node.slot);
    const candidate = this.#world.nodes.find(({ id }) => id === vote);
    // The answer is on its way by then.
    const at = this.#world.now() + this.#chance.between(1, 30);
    if (candidate !== undefined) this.#world.at(at, -1, () => this.#forgetVote(node, candidate, fault));
  }

  /** A vote alone is lost, the one who won by it is cut off, and leaders that were voted out find the voter again. */
  #forgetVote(node: SimNode, candidate: SimNode, { downMs, ms }: Fault & { readonly kind: 'forgetVote' }): void {
    if (this.#isOver || !this.#isSound(node) || !this.#isExpendable(node)) return;
    this.#crash(node, true, downMs);
    if (!node.forgetVote()) return;
    this.counts.set('forgetVote', (this.counts.get('forgetVote') ?? 0) + 1);
    this.#world.checks.torn(node);
    const until = this.#world.now() + ms;
    this.#cut((from, to) => (from === candidate.slot) !== (to === candidate.slot), until);
    for (const other of this.#world.nodes)
      if (other !== candidate && other.driver?.inspect().role === 'leader')
        this.#world.network.reconnect(node.slot, other.slot);
  }

  /** The scan finds damage: this identity never runs again. */
  #condemn(node: SimNode): boolean {
    if (!this.#isSound(node) || !this.#isExpendable(node)) return false;
    node.crash(true);
    node.isCondemned = true;
    this.#world.users.lost(node);
    return true;
  }

  /** A fresh directory under the old name. Only after the old identity left, or while the others can spare it. */
  #wipe(node: SimNode, downMs: number): boolean {
    if (!node.isCondemned && !this.#isExpendable(node)) return false;
    node.crash(true);
    node.wipe();
    this.#ended(node, downMs);
    return true;
  }

  #leader(): SimNode | undefined {
    const leaders = this.#world.nodes.filter((node) => node.driver?.inspect().role === 'leader');
    return leaders.length === 0 ? undefined : this.#chance.pick(leaders);
  }

  #transfer(to: number | undefined): boolean {
    const leader = this.#leader();
    leader?.driver?.transfer(to === undefined ? undefined : this.#world.nodes[to]!.id);
    return leader !== undefined;
  }

  #changeMembers({ op, twice }: Fault & { kind: 'member' }, node: SimNode, other: SimNode): boolean {
    const isProposed = this.#propose(op, node);
    // Two operators at once.
    if (twice) this.#propose(this.#chance.pick<MemberOp>(['update', 'remove', 'replace', 'promote']), other);
    return isProposed;
  }

  #propose(op: MemberOp, node: SimNode): boolean {
    const leader = this.#leader();
    const change = this.#changeFor(op, node);
    if (leader?.driver === undefined || change === undefined) return false;
    this.#proposals += 1;
    leader.driver.change(this.#proposals, change);
    return true;
  }

  #changeFor(op: MemberOp, node: SimNode): MembershipChange | undefined {
    const config = this.#world.ghost.newestConfig;
    if (config === undefined) return undefined;
    if (op === 'addLearner') {
      const outsiders = this.#world.nodes.filter(({ id }) => !isMember(config, id));
      return outsiders.length === 0 ? undefined : { op, member: this.#chance.pick(outsiders).member };
    }
    if (op === 'update') return { op, member: { ...node.member, address: `n${node.slot}:${this.#proposals % 9999}` } };
    const learner = config.learners.length === 0 ? undefined : this.#chance.pick(config.learners);
    // Dead identities go first: that is what replacement is for.
    const dead = config.voters.find((id) => !this.#world.nodes.some((each) => each.id === id && !each.isCondemned));
    const voter = dead ?? this.#chance.pick(config.voters);
    if (op === 'promote') return learner === undefined ? undefined : { op, id: learner };
    if (op === 'replace') return learner === undefined ? undefined : { op, id: voter, by: learner };
    return { op, id: op === 'remove' && this.#chance.happens(0.3) ? node.id : voter };
  }

  /**
   * Begins the second phase: a quorum of the newest configuration is well and stays well, all other nodes stay as they
   * are. Returns the nodes that are well: none when so much is destroyed that no quorum is left to promise anything
   * for.
   */
  makePeace(): SimNode[] {
    this.#isOver = true;
    const { network, nodes } = this.#world;
    const well = this.#chooseWell(nodes, (ids) => this.#decides(ids));
    network.heal(well.map(({ slot }) => slot));
    for (const node of well) {
      node.pausedUntilMs = 0;
      this.#world.at(this.#world.now(), -1, () => this.#world.resume(node));
      node.hostStalledUntilMs = 0;
      node.disk.stalledUntilMs = 0;
      node.disk.writeMs = Math.min(node.disk.writeMs, 5);
      node.disk.failsNext = false;
      node.setClockRate(1);
      this.#world.at(this.#world.now(), -1, () => this.#world.start(node));
    }
    for (const node of nodes) if (!well.includes(node)) this.#world.network.cutOff(node.slot);
    const sound = well.filter((node) => this.#isSound(node));
    return this.#decides(new Set(sound.map(({ id }) => id))) ? well : [];
  }

  /**
   * These are a quorum wherever they have to be one: of the newest configuration, of any that may still be committed,
   * and of those that they believe in themselves. (A member that does not know yet that others left still needs them.)
   * A process finds what was written before, synced or not.
   */
  #decides(ids: ReadonlySet<string>): boolean {
    const { ghost, nodes } = this.#world;
    const believed = nodes.filter(({ id }) => ids.has(id)).map(({ disk }) => configOf(disk.written));
    const pending = nodes.flatMap((node) => node.driver?.inspect().log.pendingConfig?.config ?? []);
    const stored = nodes.flatMap(({ disk }) => configsAbove(disk.written, ghost.lastCommitted));
    const newest = ghost.newestConfig === undefined ? [] : [ghost.newestConfig];
    return [...newest, ...believed, ...pending, ...stored].every(
      (config) => config.voters.length === 0 || isQuorum(config, (id) => ids.has(id)),
    );
  }

  /** Starts from everyone who can be well and drops members at random while a quorum remains. */
  #chooseWell(nodes: readonly SimNode[], decides: (ids: ReadonlySet<string>) => boolean): SimNode[] {
    let well = nodes.filter((node) => !node.isCondemned);
    for (const node of this.#chance.shuffle([...well])) {
      const rest = well.filter((other) => other !== node);
      const sound = rest.filter((other) => this.#isSound(other));
      if (this.#chance.happens(0.6) && decides(new Set(sound.map(({ id }) => id)))) well = rest;
    }
    return well;
  }
}

/** The configuration that a node with this disk starts with. */
function configOf({ hardState, entries, checkpoint }: Readonly<DiskImage>): Config {
  const entry = entries.findLast((each) => each.kind === 'config' && each.index <= hardState.commit);
  return entry?.kind === 'config' ? entry.config : (checkpoint?.config ?? emptyConfig);
}

function configsAbove({ entries }: Readonly<DiskImage>, index: Index): Config[] {
  return entries.flatMap((entry) => (entry.kind === 'config' && entry.index > index ? entry.config : []));
}
