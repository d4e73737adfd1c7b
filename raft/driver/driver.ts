// The only loop: inputs go into the core, what it hands out is persisted, sent and applied. Everything is
// synchronous and driven by callbacks, so the simulator runs this very code and nothing can interleave.
// Clock, disk, network and state machine are parameters.
import { type DiskProblem, isLate } from '../../disk/disk-problem.ts';
import type { Message } from '../core/message.ts';
import type { CoreEvent, CoreOutput } from '../core/output.ts';
import { RaftCore } from '../core/raft-core.ts';
import type { Rng } from '../core/rng.ts';
import { type CheckpointMeta, type Index, type Member, type MemberId, memberId } from '../core/types.ts';
import type { CheckpointStore } from '../store/checkpoint-store.ts';
import type { LogStore, OpenedLog, WriteBatch } from '../store/log-store.ts';
import { Applier } from './applier.ts';
import { CheckpointPolicy } from './checkpoint-policy.ts';
import { CheckpointTraffic } from './checkpoint-traffic.ts';
import { ClockWatch, clockLimitMs } from './clock-watch.ts';
import type { Cancel, Clock } from './driver-clock.ts';
import type { CheckpointImage, Host, MembershipChange, Outcome, RaftNode } from './driver-host.ts';
import type { DriverSettings } from './driver-settings.ts';
import { LogWriter } from './log-writer.ts';
import { PendingConfigurationChange } from './pending-configuration-change.ts';
import { Proposals } from './proposals.ts';
import { Readers } from './readers.ts';
import { type MemberCounts, MemberStats } from './stats.ts';
import { Ticker } from './ticker.ts';
import type { Receiver, Transport } from './transport.ts';

export interface DriverParts {
  readonly settings: DriverSettings;
  readonly store: Pick<LogStore, 'write' | 'poison' | 'place' | 'problem'>;
  readonly checkpoints: CheckpointStore;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly host: Host;
  readonly rng: Rng;
  /** Sees every event of the core: trace and metrics. Must not throw. */
  readonly observe?: (event: CoreEvent) => void;
}

/** Ids that reach other nodes are unique across restarts: each start has its own range. */
const idsPerBoot = 2 ** 32;

export class RaftDriver implements RaftNode, Receiver {
  readonly #parts: DriverParts;
  readonly #settings: DriverSettings;
  readonly #core: RaftCore;
  readonly #writer: LogWriter;
  readonly #applier: Applier;
  readonly #proposals: Proposals;
  readonly #readers: Readers;
  readonly #pendingChange: PendingConfigurationChange;
  readonly #policy: CheckpointPolicy;
  readonly #traffic: CheckpointTraffic;
  readonly #ticker: Ticker;
  readonly #stats = new MemberStats();
  readonly #clocks: ClockWatch;
  /** Monotonic time of the latest message of each member. */
  readonly #heard = new Map<MemberId, number>();
  #applied: Index;
  #generation: number;
  #aliveAt: number;
  #tickedAt: number;
  #isScheduled = false;
  #isDead = false;
  #isEager = false;
  #isSuspect: boolean;
  /** Why the log cannot be written now. */
  #problem: DiskProblem | undefined;
  #stopping: { readonly done: () => void; readonly until: number } | undefined;
  #cancelStop: Cancel | undefined;

  /** `opened` is a clean or suspect log; `applied` is what the host's state holds durably. */
  constructor(parts: DriverParts, opened: OpenedLog, applied: Index) {
    const { settings, clock, host, rng, store } = parts;
    this.#parts = parts;
    this.#settings = settings;
    this.#applied = applied;
    this.#generation = opened.generation;
    this.#isSuspect = opened.boot.suspect;
    this.#aliveAt = clock.monotonicMs();
    this.#tickedAt = this.#aliveAt;
    this.#clocks = new ClockWatch(clock, settings.id);
    this.#core = new RaftCore({ ...settings, boot: opened.boots }, opened.boot, applied, rng);
    const report = (id: number, outcome: Outcome) => host.outcome(id, outcome);
    this.#writer = new LogWriter(
      store,
      { entries: settings.batchEntries, bytes: settings.batchBytes },
      () => clock.monotonicMs(),
      {
        written: (seq) => this.#written(seq),
        send: (message) => parts.transport.send(this.#clocks.stamped(message)),
        failed: (failure) => this.#die(`log write failed: ${failure.message}`),
        synced: (ms) => this.#stats.synced(ms),
      },
    );
    this.#applier = new Applier(
      applied,
      settings.applyCredit,
      (index) => this.#core.entry(index),
      (batch, entries) => {
        host.committed(batch);
        this.#proposals.committed(entries);
      },
    );
    this.#proposals = new Proposals(report);
    const firstId = opened.boots * idsPerBoot;
    this.#readers = new Readers(
      { retryMs: settings.readRetryMs, limitMs: settings.readLimitMs },
      firstId,
      (attempt) => this.#core.read(attempt),
      (id, index) => host.readable(id, index),
    );
    this.#pendingChange = new PendingConfigurationChange(this.#core, settings, report);
    this.#policy = new CheckpointPolicy(settings, rng, opened.boot, applied);
    this.#traffic = new CheckpointTraffic(this.#core, parts, this.#policy, this.#stats, firstId);
    this.#ticker = new Ticker(clock, settings.tickMs, settings.stallTicks, {
      stalled: (ticks) => this.#enter(() => this.#core.stalled(ticks)),
      tick: (now) => this.#enter(() => this.#tick(now)),
    });
  }

  /** For metrics, tests and checkers. */
  inspect(): ReturnType<RaftCore['inspect']> {
    return this.#core.inspect();
  }

  /** Ascending; the last one is what peers are sent. */
  get checkpoints(): readonly CheckpointMeta[] {
    return this.#policy.kept;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Until the end of a suspicion is on disk, along with the term in which it ended. */
  get isSuspect(): boolean {
    return this.#isSuspect;
  }

  get counts(): MemberCounts {
    return this.#stats.counts;
  }

  /** The newest one that the log relies on, or will. */
  get checkpoint(): CheckpointMeta | undefined {
    return this.#policy.newest;
  }

  /** Milliseconds since each member of the configuration in force was heard; absent: not yet. */
  get heardMs(): Readonly<Record<MemberId, number>> {
    const now = this.#now();
    const { members } = this.#core.inspect().config;
    const heard = [...this.#heard].filter(([from]) => members.some(({ id }) => id === from));
    return Object.fromEntries(heard.map(([id, at]) => [id, Math.max(0, now - at)]));
  }

  /** Milliseconds that the clock of each member is ahead of this node's; members that were heard lately. */
  get clockOffsets(): Readonly<Record<MemberId, number>> {
    return this.#clocks.offsets(this.#core.inspect().config);
  }

  /** For how long the disk has owed an answer, milliseconds. */
  get syncOutstandingMs(): number {
    return this.#writer.outstandingMs;
  }

  start(): void {
    this.#parts.transport.start(this);
    this.#enter(() => {
      this.#reportRole();
      this.#setPeers();
    });
    this.#tickedAt = this.#now();
    this.#ticker.start();
  }

  /** As if the election timer fired as soon as this node may lead: when its state holds what the log has committed. */
  campaign(): void {
    this.#isEager = true;
    this.#enter(() => this.#campaign());
  }

  #campaign(): void {
    if (!this.#isEager) return;
    this.#core.campaign();
    const { role, leader } = this.#core.inspect();
    this.#isEager = role === 'follower' && leader === undefined;
  }

  receive(message: Message): void {
    this.#enter(() => {
      this.#heard.set(message.from, this.#now());
      this.#clocks.hear(message);
      // As if the network had lost it: what cannot be written would gather in memory for as long as the disk stands still.
      if (message.type === 'append' && this.#problem !== undefined) return;
      if (!this.#traffic.receive(message, this.#now())) this.#core.step(message);
    });
  }

  unreachable(peer: MemberId): void {
    this.#enter(() => this.#core.peerUnreachable(peer));
  }

  propose(id: number, payload: Uint8Array): void {
    this.#enter(
      () => {
        if (this.#problem !== undefined) {
          this.#parts.host.outcome(id, { kind: 'notApplied', why: 'disk late' });
          return;
        }
        const [result] = this.#core.propose([{ payload, time: this.#logTime() }]);
        if (result?.kind === 'appended') this.#proposals.add(id, result.index, result.term);
        else this.#parts.host.outcome(id, { kind: 'notApplied', why: result?.why ?? 'stopped' });
      },
      () => this.#parts.host.outcome(id, { kind: 'notApplied', why: 'stopped' }),
    );
  }

  change(id: number, change: MembershipChange, { force = false }: { readonly force?: boolean } = {}): void {
    this.#enter(
      () => this.#pendingChange.propose(id, change, force, this.#logTime()),
      () => this.#parts.host.outcome(id, { kind: 'notApplied', why: 'stopped' }),
    );
  }

  read(id: number): void {
    this.#enter(
      () => this.#readers.add(id, this.#now()),
      () => this.#parts.host.readable(id, undefined),
    );
  }

  applied(index: Index): void {
    this.#enter(() => {
      this.#applied = Math.max(this.#applied, index);
      this.#core.applied(index);
      this.#policy.applied(this.#applier.applied(index));
      this.#campaign();
      if (this.#policy.isDue(this.#applied)) this.#parts.host.makeCheckpoint();
    });
  }

  checkpointWritten(image: CheckpointImage): void {
    this.#enter(() => {
      const newest = this.#policy.newest;
      if (image.index <= (newest?.index ?? 0)) {
        this.#policy.failed();
        return;
      }
      const meta: CheckpointMeta = { ...image, config: this.#core.configAt(image.index, newest) };
      this.#policy.adopt(meta);
      const compactTo = this.#core.compactTo(this.#policy.compactable(this.#core, this.#applied));
      this.#writer.add({
        seq: undefined,
        batch: { checkpoint: meta, compactTo, sync: true },
        messages: [],
        whenWritten: () => this.#recorded(meta.index),
      });
    });
  }

  /**
   * Prunes checkpoints by the records of the log. A received checkpoint whose state is being built is in no record yet;
   * it stays, because it is newer than these.
   */
  #recorded(index: Index): void {
    this.#policy.recorded(index);
    this.#parts.checkpoints.prune(this.#policy.kept);
  }

  checkpointFailed(): void {
    this.#enter(() => this.#policy.failed());
  }

  installed(generation: number, index: Index): void {
    this.#enter(() => {
      const meta = this.#traffic.complete(index);
      this.#traffic.dropFetch();
      if (meta === undefined || generation <= this.#generation || !this.#core.checkpointReady(meta)) {
        this.#parts.host.discard(generation);
        return;
      }
      this.#stats.transfer('installed');
      this.#generation = generation;
      this.#applied = index;
      this.#applier.skipTo(index);
      this.#proposals.compacted(index);
      this.#policy.adopt(meta);
    });
  }

  installFailed(index: Index): void {
    this.#enter(() => this.#traffic.refuseFetch(index));
  }

  transfer(to: MemberId | undefined): void {
    this.#enter(() => {
      const target = to ?? this.#core.bestSuccessor();
      if (target !== undefined) this.#core.transferTo(target);
    });
  }

  /**
   * Hands leadership to the voter behind this one in the order of the configuration, `skip` voters further on, or to the next one
   * that can take it: by turns, where the best of them may be no better than this node. Returns whether one can.
   */
  transferByTurns(skip: number): boolean {
    let isBegun = false;
    this.#enter(() => {
      const { config, settings } = this.#core.inspect();
      const { voters } = config;
      const own = voters.indexOf(settings.id);
      const others = [...voters.slice(own + 1), ...voters.slice(0, Math.max(0, own))];
      const turn = skip % others.length;
      isBegun = [...others.slice(turn), ...others.slice(0, turn)].some((id) => this.#core.transferTo(id));
    });
    return isBegun;
  }

  alive(): void {
    this.#aliveAt = this.#now();
  }

  condemn(reason: string): void {
    this.#condemn(reason);
  }

  stop(done: () => void): void {
    this.#stopping = { done, until: this.#now() + this.#settings.stopHandOverMs };
    this.transfer(undefined);
    this.#enter(() => this.#finishStop());
  }

  /** Hands leadership over within the time given, then lets the write in flight end. */
  #finishStop(): void {
    const stopping = this.#stopping;
    if (stopping === undefined) return;
    const doesLead = this.#core.inspect().role === 'leader' && this.#core.bestSuccessor() !== undefined;
    // A write that the store makes again and again is given up when the store is closed.
    const isWriting = !this.#writer.isIdle && this.#parts.store.problem === undefined;
    if ((doesLead && this.#now() < stopping.until) || isWriting) {
      this.#cancelStop?.();
      this.#cancelStop = this.#parts.clock.after(10, () => this.#enter(() => this.#finishStop()));
      return;
    }
    this.#stopping = undefined;
    this.#shutDown();
    stopping.done();
  }

  #now(): number {
    return this.#parts.clock.monotonicMs();
  }

  /** Every input passes here. What a failed step leaves behind is half done: nothing may follow it. */
  #enter(run: () => void, otherwise?: () => void): void {
    if (this.#isDead) {
      otherwise?.();
      return;
    }
    try {
      run();
      this.#schedule();
    } catch (error) {
      this.#die(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    }
  }

  /** Inputs of one turn share one output. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#parts.clock.soon(this.#takeTurn);
  }

  readonly #takeTurn = (): void => {
    this.#isScheduled = false;
    if (this.#isDead) return;
    try {
      this.#turn();
    } catch (error) {
      this.#die(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    }
  };

  #turn(): void {
    for (let output = this.#core.drain(); output !== null && !this.#isDead; output = this.#core.drain())
      this.#execute(output);
  }

  #execute(output: CoreOutput): void {
    for (const event of output.events) this.#onEvent(event);
    if (this.#core.inspect().poisoned) {
      this.#condemn('this node lost data that it had acknowledged');
      return;
    }
    for (const message of output.sendNow) this.#parts.transport.send(this.#clocks.stamped(message));
    this.#persist(output);
    this.#writer.sendWhenWritten(output.sendAfterPersist);
    if (output.apply !== undefined) this.#applier.extend(output.apply.to);
    for (const { id, index } of output.reads) this.#readers.answered(id, index, this.#now());
    this.#traffic.execute(output, this.#now());
  }

  #persist({ seq, persist, sync, events }: CoreOutput): void {
    const trusted = events.some(({ type }) => type === 'trusted');
    if (persist === undefined && !trusted) return;
    const { hardState, truncateFrom, entries = [], install } = persist ?? {};
    const generation = this.#generation;
    const batch: WriteBatch = {
      hardState,
      truncateFrom,
      install: install && { meta: install, generation },
      trusted: trusted || undefined,
      entries,
      sync: sync || trusted,
    };
    const whenWritten = () => {
      if (trusted) this.#isSuspect = false;
      if (install !== undefined) this.#installDone(generation, install.index);
    };
    this.#writer.add({ seq, batch, messages: [], whenWritten });
  }

  #installDone(generation: number, index: Index): void {
    this.#parts.host.adopt(generation, index);
    this.#recorded(index);
  }

  #written(seq: number | undefined): void {
    if (seq === undefined) return;
    this.#enter(() => this.#core.persisted(seq));
  }

  #onEvent(event: CoreEvent): void {
    this.#parts.observe?.(event);
    this.#stats.happened(event);
    if (event.type === 'role') {
      this.#traffic.roleChanged(event.role);
      this.#leads(event.role === 'leader');
      if (event.leader !== undefined) this.#readers.leaderChanged(this.#now());
      this.#reportRole();
    }
    if (event.type === 'config') {
      this.#pendingChange.activated(event.index, event.config);
      this.#setPeers();
      this.#reportRole();
    }
    if (event.type === 'progress' && event.state !== 'checkpoint') this.#traffic.closeSender(event.peer);
  }

  #leads(doesLead: boolean): void {
    const patience = this.#settings.electionTicks * this.#settings.tickMs;
    this.#proposals.leads(doesLead, this.#now(), patience);
    this.#pendingChange.leads(doesLead, this.#now(), patience);
  }

  #reportRole(): void {
    const { config, leader, role, term } = this.#core.inspect();
    this.#parts.host.role({ role, term, leader: config.members.find(({ id }) => id === leader), config });
  }

  #setPeers(): void {
    const { config, settings } = this.#core.inspect();
    for (const id of this.#heard.keys()) if (!config.members.some((member) => member.id === id)) this.#heard.delete(id);
    this.#parts.transport.setPeers(config.members.filter(({ id }: Member) => id !== settings.id));
  }

  #tick(now: number): void {
    this.#stats.ticked(now - this.#tickedAt - this.#settings.tickMs);
    this.#tickedAt = now;
    this.#watchHealth(now);
    if (this.#isDead) return;
    this.#core.tick();
    this.#proposals.tick(now);
    this.#pendingChange.tick(now);
    this.#readers.tick(now);
    this.#traffic.tick(now);
  }

  /** A disk that hangs, or a program above that does, must not keep a leader in office. */
  #watchHealth(now: number): void {
    const { aliveMs, diskSlowMs } = this.#settings;
    const isAlive = now - this.#aliveAt <= aliveMs;
    const diskSlow = this.#writer.outstandingMs > diskSlowMs;
    this.#watchDisk();
    this.#core.health({ mayLead: isAlive && !diskSlow && this.#stopping === undefined, diskSlow });
    if (this.#problem !== undefined || this.#isClockWrong()) this.#core.resign();
    else if (!isAlive) this.transfer(undefined);
  }

  /** A late write is no lost write: nothing of it was answered, and when it ends this node goes on. */
  #watchDisk(): void {
    const { diskLateMs, diskSlowMs } = this.#settings;
    const { problem: rejection, place } = this.#parts.store;
    const owed = this.#writer.outstandingMs;
    const problem = rejection === undefined ? isLate(place) : rejection;
    const limit = problem.kind === 'late' ? diskLateMs : diskSlowMs;
    this.#setProblem(owed > limit ? problem : undefined);
  }

  /**
   * Most clocks of the voters contradict that of this leader, so the log is not to take its time from it. It leads until an entry
   * of its term is committed: before, it may be the only one whose log can win an election.
   */
  #isClockWrong(): boolean {
    const { role, config, term, log } = this.#core.inspect();
    if (role !== 'leader' || log.term(log.committed) !== term) return false;
    return Math.abs(this.#clocks.median(config) ?? 0) > clockLimitMs;
  }

  #logTime(): number {
    const { config, log } = this.#core.inspect();
    return this.#clocks.logTime(config, log.lastTime);
  }

  #setProblem(problem: DiskProblem | undefined): void {
    if (problem?.reason === this.#problem?.reason) return;
    this.#problem = problem;
    this.#parts.host.disk(problem);
  }

  /** Data that was acknowledged is gone or wrong, and no start makes it right. */
  #condemn(reason: string): void {
    if (this.#isDead) return;
    this.#parts.store.poison(reason);
    this.#die(reason);
  }

  /** Ends the driver. The state on disk is not in doubt: the next start reads and judges it as after a crash. */
  #die(reason: string): void {
    if (this.#isDead) return;
    this.#shutDown();
    this.#parts.host.fatal(reason);
  }

  #shutDown(): void {
    this.#proposals.stop();
    this.#pendingChange.stop();
    this.#readers.stop();
    this.#isDead = true;
    this.#ticker.stop();
    this.#cancelStop?.();
    this.#traffic.close();
    this.#parts.transport.close();
  }
}

export function ownId({ identity }: OpenedLog): MemberId {
  return memberId(identity);
}
