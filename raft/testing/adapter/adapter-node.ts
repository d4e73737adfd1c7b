// One core without a driver: a scenario decides when it persists, applies, and what reaches it.

import { type CoreSettings, defaultSettings } from '../../core/core-settings.ts';
import type { Message } from '../../core/message.ts';
import type { CoreOutput } from '../../core/output.ts';
import { RaftCore } from '../../core/raft-core.ts';
import type { Rng } from '../../core/rng.ts';
import type { CheckpointMeta, Config, Index, MemberId } from '../../core/types.ts';

export interface NodeOptions {
  readonly prevote?: boolean;
  readonly checkquorum?: boolean;
  /** Appends in flight to one peer. */
  readonly inflight?: number;
  /** Writes and applies wait for `persistOne` and `applyOne`. */
  readonly asyncPersist?: boolean;
  readonly stepDownOnRemoval?: boolean;
  /** As the product does: a leader that leaves tells its best successor to campaign. */
  readonly handOverOnRemoval?: boolean;
  /** Bytes of committed entries handed out at a time. */
  readonly maxCommittedPerReady?: number;
  /** The start-up scan could not exclude that the end of the log is missing. */
  readonly suspect?: boolean;
  /** Peers have nothing to prove themselves by. */
  readonly unproven?: boolean;
}

export const scenarioCluster = 'scenario';

export class AdapterNode {
  readonly id: MemberId;
  readonly core: RaftCore;
  readonly #options: NodeOptions;
  readonly #send: (message: Message) => void;
  /** Draws of the election timeout beyond the minimum; a scenario may fix it. */
  #extraTicks: number | undefined;
  #unwritten: CoreOutput[] = [];
  #unapplied: Index[] = [];
  applied: Index;

  constructor(
    id: MemberId,
    config: Config,
    index: Index,
    options: NodeOptions,
    chance: Rng,
    send: (message: Message) => void,
  ) {
    this.id = id;
    this.#options = options;
    this.#send = send;
    this.applied = index;
    const meta = index > 0 ? checkpointAt(index, 1, config) : undefined;
    const rng: Rng = { below: (n) => (n === 3 && this.#extraTicks !== undefined ? this.#extraTicks : chance.below(n)) };
    this.core = new RaftCore(
      this.#settings,
      {
        hardState: { term: 0, vote: undefined, commit: index },
        base: { index, term: index > 0 ? 1 : 0 },
        entries: [],
        checkpoint: meta,
        suspect: options.suspect ?? false,
      },
      index,
      rng,
    );
  }

  get #settings(): CoreSettings {
    const unbounded = Number.MAX_SAFE_INTEGER;
    const { prevote = false, checkquorum = false, inflight = unbounded } = this.#options;
    const { stepDownOnRemoval = false, handOverOnRemoval = false } = this.#options;
    return {
      ...defaultSettings,
      clusterId: scenarioCluster,
      id: this.id,
      boot: 1,
      peersAreProven: this.#options.unproven !== true,
      electionTicks: 3,
      heartbeatTicks: 1,
      preVote: prevote,
      checkQuorum: checkquorum,
      onRemoval: handOverOnRemoval ? 'handOver' : stepDownOnRemoval ? 'stepDown' : 'stay',
      appendBytes: unbounded,
      appendEntries: unbounded,
      windowMessages: inflight,
      windowBytes: unbounded,
    };
  }

  setElectionTimeout(ticks: number): void {
    this.#extraTicks = Math.max(0, ticks - 3);
    this.core.redrawElectionTimeout();
  }

  /** Drains once. False when there was nothing. */
  ready(): boolean {
    const output = this.core.drain();
    if (output === null) return false;
    for (const message of output.sendNow) this.#send(message);
    for (const peer of output.checkpointsFor) this.core.offerCheckpoint(peer, this.checkpoint(), 0);
    if (output.apply !== undefined) this.#unapplied.push(...this.#portions(output.apply.from, output.apply.to));
    this.#unwritten.push(output);
    if (this.#options.asyncPersist) return true;
    this.persistOne();
    while (this.applyOne()) {
      // All of it, as a node does that writes and applies in one step.
    }
    return true;
  }

  #portions(from: Index, to: Index): Index[] {
    const limit = this.#options.maxCommittedPerReady;
    if (limit === undefined) return [to];
    const ends: Index[] = [];
    for (let at = from; at <= to; at += 1) ends.push(at);
    return ends;
  }

  /** The oldest write reaches the disk. */
  persistOne(): boolean {
    const output = this.#unwritten.shift();
    if (output === undefined) return false;
    if (output.persist !== undefined) this.core.persisted(output.seq);
    if (output.persist?.install !== undefined) this.applied = output.persist.install.index;
    for (const message of output.sendAfterPersist) this.#send(message);
    return true;
  }

  applyOne(): boolean {
    const index = this.#unapplied.shift();
    if (index === undefined) return false;
    this.applied = Math.max(this.applied, index);
    this.core.applied(this.applied);
    return true;
  }

  receive(message: Message): void {
    this.core.step(message);
    // A checkpoint arrives whole here.
    if (message.type === 'checkpointBegin' && this.core.inspect().fetching !== undefined)
      this.core.checkpointReady(message.meta);
  }

  /** The newest state there is to send. */
  checkpoint(): CheckpointMeta {
    const { config, configIndex, log } = this.core.inspect();
    const before = configIndex <= this.applied ? undefined : this.core.configAt(this.applied, undefined);
    return checkpointAt(this.applied, log.term(this.applied) ?? 1, before ?? config);
  }
}

function checkpointAt(index: Index, term: number, config: Config): CheckpointMeta {
  return { index, term, time: 0, config, file: `scenario-${index}`, size: 0, sha256: `${index}.${term}` };
}
