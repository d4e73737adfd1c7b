// One core and its disk, without a driver: the exploration decides when a write ends and what reaches it.

import { defaultSettings } from '../../core/core-settings.ts';
import type { Message } from '../../core/message.ts';
import type { CoreEvent, CoreOutput } from '../../core/output.ts';
import { RaftCore } from '../../core/raft-core.ts';
import type { Config, Entry, MemberId } from '../../core/types.ts';
import { applyBatch, type DiskImage, emptyImage } from '../sim/disk-image.ts';

const clusterId = 'explored';

export interface SmallNodeWorld {
  send(message: Message): void;
  observe(node: SmallNode, event: CoreEvent): void;
  written(node: SmallNode, entries: readonly Entry[]): void;
  /** Writes end at once, instead of when the exploration says so. */
  readonly writesAtOnce: boolean;
}

/** Equal draws everywhere: timeouts fire when the exploration says so, and no rule may rest on the nonce alone. */
const noChance = { below: () => 0 };

export class SmallNode {
  readonly id: MemberId;
  readonly #world: SmallNodeWorld;
  readonly disk: DiskImage;
  core: RaftCore;
  #boots = 0;
  #unwritten: CoreOutput[] = [];

  constructor(id: MemberId, config: Config, world: SmallNodeWorld) {
    this.id = id;
    this.#world = world;
    this.disk = {
      ...emptyImage(),
      hardState: { term: 1, vote: undefined, commit: 1 },
      entries: [{ index: 1, term: 1, time: 0, kind: 'config', config }],
    };
    this.core = this.#boot();
  }

  #boot(): RaftCore {
    this.#boots += 1;
    const { base, entries, hardState } = this.disk;
    const boot = { hardState, base, entries: [...entries], checkpoint: undefined, suspect: false };
    const settings = { ...defaultSettings, clusterId, id: this.id, boot: this.#boots };
    // Polls and the hold on a leader only ever prevent what is explored here.
    return new RaftCore({ ...settings, preVote: false, checkQuorum: false }, boot, hardState.commit, noChance);
  }

  /** The process ends and another one starts; what was not written is gone. */
  crash(): void {
    this.#unwritten = [];
    this.core = this.#boot();
  }

  get hasUnwritten(): boolean {
    return this.#unwritten.length > 0;
  }

  /** Carries out what the core wants done, until only writes are left that wait for the exploration. */
  settle(): void {
    for (;;) {
      const output = this.core.drain();
      if (output !== null) this.#take(output);
      else if (this.#unwritten[0] !== undefined && this.#isDue(this.#unwritten[0])) this.write();
      else return;
    }
  }

  #take(output: CoreOutput): void {
    for (const event of output.events) this.#world.observe(this, event);
    for (const message of output.sendNow) this.#world.send(message);
    if (output.apply !== undefined) this.core.applied(output.apply.to);
    this.#unwritten.push(output);
  }

  #isDue({ persist }: CoreOutput): boolean {
    return persist === undefined || this.#world.writesAtOnce;
  }

  /** The oldest write ends; what asserts something about it leaves. */
  write(): void {
    const output = this.#unwritten.shift();
    if (output === undefined) return;
    const { persist, seq, sendAfterPersist } = output;
    if (persist !== undefined) {
      const problem = applyBatch(this.disk, { ...withoutAbsent(persist), sync: true });
      if (problem !== undefined) throw new Error(`${this.id}: ${problem}`);
      this.#world.written(this, persist.entries);
    }
    this.core.persisted(seq);
    for (const message of sendAfterPersist) this.#world.send(message);
  }

  /** Visible state of the node in one line: equal lines are taken for equal states. */
  digest(): string {
    const { leader, log, progress, role, term, vote, votes } = this.core.inspect();
    const { hardState, entries } = this.disk;
    const peers = [...progress].map(
      ([id, peer]) =>
        `${id}${peer.state}${peer.match},${peer.next},${peer.inflight},${peer.isPaused},${peer.sentCommit}`,
    );
    const granted = [...votes].map(([id, isGranted]) => `${id}${isGranted}`);
    const memory: string[] = [];
    for (let at = log.base.index + 1; at <= log.lastIndex; at += 1) memory.push(nameOf(log.entry(at)!));
    return [
      ...[role, term, vote, leader, log.committed, log.stable, memory, peers, granted],
      ...[hardState.term, hardState.vote, hardState.commit, entries.map(nameOf), this.#unwritten.length],
    ].join(' ');
  }
}

function withoutAbsent({ entries, hardState, truncateFrom }: NonNullable<CoreOutput['persist']>) {
  return { entries, ...(hardState && { hardState }), ...(truncateFrom !== undefined && { truncateFrom }) };
}

function nameOf(entry: Entry): string {
  return entry.kind === 'command' ? `${entry.term}:${entry.payload[3]}` : `${entry.term}`;
}
