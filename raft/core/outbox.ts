// Collects what the core wants done until the driver drains it, and decides which messages may leave before the
// disk has answered: a message that asserts something about this node's disk waits for it.
import type { Message } from './message.ts';
import type { CoreEvent, CoreOutput, Persist } from './output.ts';
import type { RaftLog } from './raft-log.ts';
import type { HardState, Index, MemberId, Term } from './types.ts';

interface Flight {
  readonly seq: number;
  readonly hardState: HardState;
}

export class Outbox {
  #seq = 0;
  #handed: HardState;
  #durable: HardState;
  #flights: Flight[] = [];
  /** The output that takes the end of a suspicion to the disk: before it is there no answer may count. */
  #trustSeq: number | undefined;
  #sendNow: Message[] = [];
  #sendAfterPersist: Message[] = [];
  #reads: { id: number; index: Index | undefined }[] = [];
  #checkpointsFor: MemberId[] = [];
  #fetch: CoreOutput['fetch'];
  #events: CoreEvent[] = [];
  /** Last entry that was handed out for applying. */
  #handedToApply: Index;

  constructor(durable: HardState, applied: Index) {
    this.#handed = durable;
    this.#durable = durable;
    this.#handedToApply = applied;
  }

  /** Term, vote and commit as the disk has them for sure. */
  get durable(): HardState {
    return this.#durable;
  }

  send(message: Message): void {
    if (this.#mayLeaveNow(message)) this.#sendNow.push(message);
    else if (!this.#mergeAnswer(message)) this.#sendAfterPersist.push(message);
  }

  #mayLeaveNow(message: Message): boolean {
    switch (message.type) {
      case 'preVote':
      case 'preVoteResp':
      case 'vote':
      case 'voteResp':
      case 'appendResp':
        return false;
      case 'heartbeatResp':
        return message.term === this.#durable.term && this.#trustSeq === undefined;
      default:
        return true;
    }
  }

  /** Several appends of one turn are answered once, with the highest match. */
  #mergeAnswer(message: Message): boolean {
    if (message.type !== 'appendResp' || message.match === undefined) return false;
    const at = this.#sendAfterPersist.length - 1;
    const last = this.#sendAfterPersist[at];
    if (last?.type !== 'appendResp' || last.to !== message.to || last.term !== message.term) return false;
    if (last.match === undefined || last.match > message.match) return false;
    this.#sendAfterPersist[at] = message;
    return true;
  }

  read(id: number, index: Index | undefined): void {
    this.#reads.push({ id, index });
  }

  needsCheckpoint(peer: MemberId): void {
    this.#checkpointsFor.push(peer);
  }

  fetch(request: NonNullable<CoreOutput['fetch']>): void {
    this.#fetch = request;
  }

  event(event: CoreEvent): void {
    if (event.type === 'trusted') this.#trustSeq = this.#seq + 1;
    this.#events.push(event);
  }

  /** A checkpoint took the place of everything up to `index`. */
  skipApplyTo(index: Index): void {
    this.#handedToApply = Math.max(this.#handedToApply, index);
  }

  take(log: RaftLog, term: Term, vote: MemberId | undefined): CoreOutput | null {
    const persist = this.#persist(log, { term, vote, commit: log.committed });
    const apply = this.#apply(log);
    if (persist === undefined && apply === undefined && this.#isEmpty) return null;
    const sync =
      persist !== undefined &&
      (persist.entries.length > 0 ||
        persist.truncateFrom !== undefined ||
        persist.install !== undefined ||
        persist.hardState?.term !== this.#handed.term ||
        persist.hardState.vote !== this.#handed.vote);
    if (persist?.hardState) {
      this.#handed = persist.hardState;
      this.#flights.push({ seq: this.#seq, hardState: persist.hardState });
    }
    const output: CoreOutput = {
      seq: this.#seq,
      persist,
      sync,
      sendNow: this.#sendNow,
      sendAfterPersist: this.#sendAfterPersist,
      apply,
      reads: this.#reads,
      checkpointsFor: this.#checkpointsFor,
      fetch: this.#fetch,
      events: this.#events,
    };
    this.#clear();
    return output;
  }

  get #isEmpty(): boolean {
    return (
      this.#sendNow.length === 0 &&
      this.#sendAfterPersist.length === 0 &&
      this.#reads.length === 0 &&
      this.#checkpointsFor.length === 0 &&
      this.#events.length === 0 &&
      this.#fetch === undefined
    );
  }

  /** Term, vote and commit travel with every change of the log, in one record. */
  #persist(log: RaftLog, now: HardState): Persist | undefined {
    this.#seq += 1;
    const changes = log.take(this.#seq);
    const before = this.#handed;
    const isNew = now.term !== before.term || now.vote !== before.vote || now.commit !== before.commit;
    if (changes === undefined && !isNew) return undefined;
    return { hardState: now, truncateFrom: undefined, entries: [], install: undefined, ...changes };
  }

  #apply(log: RaftLog): CoreOutput['apply'] {
    const to = Math.min(log.committed, log.stable);
    if (to <= this.#handedToApply) return undefined;
    const from = this.#handedToApply + 1;
    this.#handedToApply = to;
    return { from, to };
  }

  #clear(): void {
    this.#sendNow = [];
    this.#sendAfterPersist = [];
    this.#reads = [];
    this.#checkpointsFor = [];
    this.#fetch = undefined;
    this.#events = [];
  }

  persisted(seq: number): void {
    while (this.#flights.length > 0 && this.#flights[0]!.seq <= seq) this.#durable = this.#flights.shift()!.hardState;
    if (this.#trustSeq !== undefined && this.#trustSeq <= seq) this.#trustSeq = undefined;
  }
}
