// Whole members in one process for the tests: real logs, real sockets, and a state machine that is a list of words.
import { randomFillSync } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { expect } from 'chai';

import type { DiskProblem } from '../../../disk/disk-problem.ts';
import { type CheckpointMeta, type LogPosition, type MemberId } from '../../../raft/core/types.ts';
import type { MembershipChange, Outcome, RoleReport } from '../../../raft/driver/driver-host.ts';
import type { DriverSettings } from '../../../raft/driver/driver-settings.ts';
import { RaftMember } from '../../../raft/member/member.ts';
import type { MemberHost, OpenedReport } from '../../../raft/member/member-host.ts';
import { type ClusterOptions, checkpointDirectory, type RaftOptions } from '../../../raft/member/options.ts';
import { systemClock } from '../../../raft/member/system-clock.ts';
import { readCheckpoint, writeCheckpoint } from '../../../raft/store/checkpoint-files.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';

const quick: Partial<DriverSettings> = { tickMs: 15, electionTicks: 6, stopHandOverMs: 150 };

export interface TestOptions {
  readonly nodeId?: string;
  readonly cluster?: Partial<ClusterOptions> | undefined;
  readonly settings?: Partial<DriverSettings>;
  /** Position that the state has applied already. */
  readonly applied?: LogPosition;
}

/** A member and the program above it. The state is in memory: a test that starts it again says what it held. */
export class TestMember implements MemberHost {
  readonly member: RaftMember;
  readonly options: RaftOptions;
  readonly notices: string[] = [];
  readonly warnings: string[] = [];
  readonly diskProblems: string[] = [];
  words: string[] = [];
  applied: LogPosition;
  report: OpenedReport | undefined;
  lastRole: RoleReport | undefined;
  fatalReason: string | undefined;
  generation = 1;
  readonly #outcomes = new Map<number, (outcome: Outcome) => void>();
  readonly #reads = new Map<number, (index: number | undefined) => void>();
  readonly #alive: NodeJS.Timeout;
  #nextId = 1;
  #writing: Promise<void> | undefined;
  #building: { words: string[]; at: LogPosition } | undefined;

  constructor(directory: string, { nodeId = 'single', cluster, settings, applied }: TestOptions = {}) {
    this.applied = applied ?? { index: 0, term: 0 };
    this.options = {
      directory,
      nodeId,
      clientAddress: '',
      keyFingerprint: '',
      cluster: cluster && { ...clusterDefaults, ...cluster },
    };
    this.member = new RaftMember({
      options: this.options,
      host: this,
      clock: systemClock,
      random: randomFillSync,
      settings: { ...quick, ...settings },
    });
    this.#alive = setInterval(() => this.member.node.alive(), 250);
    this.member.open();
  }

  get id(): MemberId {
    return this.member.status()?.id ?? '';
  }

  get leads(): boolean {
    return this.lastRole?.role === 'leader';
  }

  opened(report: OpenedReport): void {
    this.report = report;
    this.member.begin(this.applied);
  }

  cannotListen(code: string): void {
    this.fatalReason = code;
  }

  committed(batch: Parameters<MemberHost['committed']>[0]): void {
    for (const { payload } of batch.entries) this.words.push(Buffer.from(payload).toString());
    this.applied = { index: batch.last, term: batch.term };
    this.member.node.applied(batch.last);
  }

  outcome(id: number, outcome: Outcome): void {
    this.#outcomes.get(id)?.(outcome);
  }

  readable(id: number, index: number | undefined): void {
    this.#reads.get(id)?.(index);
  }

  disk(problem: DiskProblem | undefined): void {
    this.diskProblems.push(problem?.reason ?? 'none');
  }

  role(report: RoleReport): void {
    this.lastRole = report;
  }

  makeCheckpoint(): void {
    const { index, term } = this.applied;
    const content = [Buffer.from(JSON.stringify(this.words))];
    this.#writing = writeCheckpoint(checkpointDirectory(this.options), { index, term, content }).then(
      (file) => this.member.node.checkpointWritten({ ...file, time: 0 }),
      () => this.member.node.checkpointFailed(),
    );
  }

  install(meta: CheckpointMeta): void {
    const build = async () => {
      const parts: Uint8Array[] = [];
      for await (const part of readCheckpoint(checkpointDirectory(this.options), meta)) parts.push(part);
      this.#building = { words: JSON.parse(Buffer.concat(parts).toString()), at: meta };
      this.member.node.installed(this.generation + 1, meta.index);
    };
    build().catch(() => this.member.node.installFailed(meta.index));
  }

  adopt(generation: number): void {
    this.words = this.#building?.words ?? [];
    this.applied = this.#building?.at ?? this.applied;
    this.generation = generation;
  }

  discard(): void {
    this.#building = undefined;
  }

  notice(text: string): void {
    this.notices.push(text);
  }

  warning(text: string): void {
    this.notices.push(text);
    this.warnings.push(text);
  }

  fatal(reason: string): void {
    this.fatalReason = reason;
  }

  propose(word: string): Promise<Outcome> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#outcomes.set(id, resolve);
      this.member.node.propose(id, Buffer.from(word));
    });
  }

  change(change: MembershipChange): Promise<Outcome> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#outcomes.set(id, resolve);
      this.member.node.change(id, change);
    });
  }

  read(): Promise<number | undefined> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#reads.set(id, resolve);
      this.member.node.read(id);
    });
  }

  /** Ends the member and waits for the checkpoint that is still being written: its directory may be removed next. */
  async stop(): Promise<void> {
    clearInterval(this.#alive);
    await new Promise<void>((resolve) => this.member.stop(resolve));
    await this.#writing;
  }
}

const clusterDefaults: ClusterOptions = {
  bindAddress: '127.0.0.1:0',
  advertiseAddress: '127.0.0.1:1',
  peers: [],
  discovery: undefined,
  clusterToken: 'a token of the cluster',
  tls: undefined,
  autoJoin: 'learner',
};

/** Settings of nodes that name each other as peers, on ports that were free a moment ago. */
export async function peersOf(...nodeIds: string[]): Promise<{ nodeId: string; cluster: Partial<ClusterOptions> }[]> {
  const addresses = await Promise.all(nodeIds.map(async () => `127.0.0.1:${await freePort()}`));
  const peers = nodeIds.map((nodeId, at) => ({ nodeId, address: addresses[at] ?? '' }));
  return peers.map(({ nodeId, address }) => ({
    nodeId,
    cluster: { bindAddress: address, advertiseAddress: address, peers },
  }));
}

/** Starts one member for each of the settings, each in its own directory below `parent`. */
export function startAll(parent: string, all: readonly TestOptions[]): TestMember[] {
  return all.map((options) => new TestMember(join(parent, options.nodeId ?? 'single'), options));
}

/** Commits through the leader, once there is one for long enough; a busy machine makes leaders resign. */
export async function commit(
  members: readonly TestMember[],
  word: string,
): Promise<{ leader: TestMember; index: number }> {
  for (;;) {
    const leader = await leaderOf(members);
    const outcome = await leader.propose(word);
    if (outcome.kind === 'committed') return { leader, index: outcome.index };
    if (outcome.kind === 'notApplied') {
      await setTimeout(5);
      continue;
    }
    // Proposed again it might stand there twice: the next leader, once it can read, has it or never will.
    const found = await eventually(async () => {
      const next = await leaderOf(members);
      const index = await next.read();
      if (index === undefined || next.applied.index < index) throw new Error('it has not caught up');
      return { leader: next, index };
    });
    if (found.leader.words.includes(word)) return found;
  }
}

export function leaderOf(members: readonly TestMember[]): Promise<TestMember> {
  return eventually(() => {
    const leader = members.find((each) => each.leads);
    const reasons = members.map((each) => each.fatalReason ?? each.notices.at(-1));
    expect(leader, reasons.join('; ')).not.to.equal(undefined);
    return leader!;
  });
}
