// Progress of one peer as the leader sees it, and flow control towards it.
//   probe       one append per heartbeat answer, until both logs are known to agree somewhere
//   replicate   appends flow within a window, `next` runs ahead of the answers
//   checkpoint  the entries it needs are gone; silent until it holds a checkpoint
import type { ProgressState } from './output.ts';
import type { Index } from './types.ts';

export interface Window {
  readonly messages: number;
  readonly bytes: number;
}

export class Progress {
  readonly #window: Window;
  #state: ProgressState = 'probe';
  /** Highest index known to be durable there. Invariant: match < next. */
  #match: Index = 0;
  #next: Index;
  /** Probe: an append is out. Replicate: unused. */
  #waiting = false;
  /** A heartbeat was answered although appends may be lost: send one more, empty if need be. */
  #nudged = false;
  #inflight: { last: Index; bytes: number }[] = [];
  #inflightBytes = 0;
  #sendSeq = 0;
  /** `sendSeq` of the newest append when `match` last rose: later ones carry that `match` as `youAcked`. */
  #matchSeq = 0;
  /** The start of the peer that acknowledged `match`. */
  #matchBoot = 0;
  /** Highest `sendSeq` that was acknowledged: older refusals come late. */
  #ackedSeq = 0;
  sentCommit: Index = 0;
  /** Newest known start number of the peer; answers of earlier starts do not count any more. */
  #peerBoot = 0;
  #suspect = false;
  /** End of the leader's log when it learned of the start that is suspect. */
  #suspectAt: Index = 0;
  /** Answered since the last check of the quorum. */
  active = false;
  #activeBefore = false;
  /** True once the peer reported a shorter log than it had acknowledged: it does not count any more. */
  lost = false;
  /** Checkpoint state: the index on its way; 0 while none was chosen. */
  pendingCheckpoint: Index = 0;

  constructor(next: Index, window: Window) {
    this.#next = next;
    this.#window = window;
  }

  get state(): ProgressState {
    return this.#state;
  }

  get match(): Index {
    return this.#match;
  }

  get next(): Index {
    return this.#next;
  }

  get inflight(): number {
    return this.#inflight.length;
  }

  get isFull(): boolean {
    return this.#inflight.length >= this.#window.messages || this.#inflightBytes >= this.#window.bytes;
  }

  get isPaused(): boolean {
    if (this.#state === 'checkpoint') return true;
    if (this.#state === 'probe') return this.#waiting;
    return this.isFull && !this.#nudged;
  }

  /**
   * Returns whether an append without entries is worth sending: to find the position of the peer, or to send it the
   * commit index.
   */
  wantsEmpty(commit: Index): boolean {
    if (this.#state === 'probe' || this.#nudged) return true;
    return this.sentCommit < Math.min(commit, this.#next - 1);
  }

  /**
   * Returns the number of the append that is about to leave. 0: it carries only the commit index, and no answer is
   * waited for; should it be lost, the next append or heartbeat carries the same.
   */
  sending(last: Index | undefined, bytes: number, commit: Index): number {
    if (last === undefined && this.#state === 'replicate' && !this.#nudged && !this.#suspect) {
      this.sentCommit = commit;
      return 0;
    }
    this.#nudged = false;
    this.sentCommit = commit;
    if (this.#state === 'probe') this.#waiting = true;
    else if (last !== undefined) {
      this.#next = last + 1;
      this.#inflight.push({ last, bytes });
      this.#inflightBytes += bytes;
    }
    this.#sendSeq += 1;
    return this.#sendSeq;
  }

  /** A leader knows nothing about its peers at first. */
  startTerm(next: Index): void {
    this.#next = next;
    this.active = false;
  }

  /**
   * Takes note of an answer of the peer's start number `boot`, while the leader's log ends at `lastIndex`. False when a
   * later start is known already. A start that is trusted never becomes suspect again: an answer that claims so is
   * late.
   */
  noteStart(boot: number, suspect: boolean, lastIndex: Index): boolean {
    if (boot < this.#peerBoot) return false;
    if (boot > this.#peerBoot) {
      this.#peerBoot = boot;
      this.#suspect = suspect;
      this.#suspectAt = lastIndex;
    } else if (!suspect) this.#suspect = false;
    return true;
  }

  /** Its answers count: for commits, for reads, and for the leader's check that it still has a quorum. */
  get counts(): boolean {
    return !this.lost && !this.#suspect;
  }

  /** Returns whether the peer is suspect and no entry was made since the leader learned of that. */
  wantsNewEntry(lastIndex: Index): boolean {
    return this.#suspect && !this.lost && this.#suspectAt === lastIndex;
  }

  /**
   * Returns the start number that the leader vouches for once it has committed an entry made after it learned of that
   * start. Every later leader holds that entry. So no candidate can be elected, and no leader can commit, with a vote
   * or an acknowledgement that this start has forgotten: the log of either would have to be older than the entry.
   */
  vouchedBoot(committed: Index): number {
    return this.#suspect && committed > this.#suspectAt ? this.#peerBoot : 0;
  }

  /** The peer holds everything up to `match`. `firstIndex` is the first entry that the leader still has. */
  acknowledged(match: Index, sendSeq: number, firstIndex: Index): void {
    const isNews = match > this.#match;
    this.#ackedSeq = Math.max(this.#ackedSeq, sendSeq);
    if (isNews) {
      this.#match = match;
      this.#matchSeq = this.#sendSeq;
      this.#matchBoot = this.#peerBoot;
      this.#next = Math.max(this.#next, match + 1);
    }
    if (this.#state === 'replicate') this.#free(match);
    else if (this.#state === 'probe' && match >= this.#match) this.becomeReplicate();
    else if (this.#state === 'checkpoint') this.#leaveCheckpoint(firstIndex);
  }

  /** Done when it holds a position that the leader still knows; if that was compacted meanwhile, start over. */
  #leaveCheckpoint(firstIndex: Index): void {
    if (this.#match + 1 >= firstIndex) this.becomeReplicate();
    else if (this.pendingCheckpoint > 0 && this.#match >= this.pendingCheckpoint) this.becomeProbe();
  }

  #free(match: Index): void {
    let freed = 0;
    while (freed < this.#inflight.length && this.#inflight[freed]!.last <= match) {
      this.#inflightBytes -= this.#inflight[freed]!.bytes;
      freed += 1;
    }
    if (freed > 0) this.#inflight.splice(0, freed);
  }

  /**
   * Handles a refusal of the append behind `prevIndex`; both logs may agree at `hint`. False: an old refusal, without
   * meaning for the present.
   */
  refused(prevIndex: Index, sendSeq: number, hint: Index): boolean {
    if (this.#state === 'checkpoint' || sendSeq < this.#ackedSeq) return false;
    if (this.#state === 'replicate') {
      if (prevIndex <= this.#match) return false;
      this.becomeProbe();
      this.#next = this.#match + 1;
      return true;
    }
    if (this.#next - 1 !== prevIndex) return false;
    this.#next = Math.max(Math.min(prevIndex, hint + 1), this.#match + 1);
    this.#waiting = false;
    return true;
  }

  /** The log is shorter than `match`, and the answer is newer: of a later life, or to an append that carried `match`. */
  provesLoss(boot: number, sendSeq: number, lastIndex: Index): boolean {
    return lastIndex < this.#match && (boot > this.#matchBoot || sendSeq > this.#matchSeq);
  }

  /** The quorum was checked; from now on it has to answer again. */
  startCheck(): void {
    this.#activeBefore = this.active;
    this.active = false;
  }

  /** Answered since the check before the last one. */
  get wasActive(): boolean {
    return this.active || this.#activeBefore;
  }

  /**
   * Notes that the peer is alive: a probe may go out again, and a window that was lost as a whole must not stay full
   * for ever.
   */
  heard(lastIndex: Index): void {
    this.active = true;
    this.#waiting = false;
    if (this.#state === 'replicate' && this.#match < lastIndex) this.#nudged = true;
  }

  /** Notes that the peer is suspect and waits for an append that names its present start, even an empty one. */
  noteSuspect(): void {
    this.#waiting = false;
    if (this.#state === 'replicate') this.#nudged = true;
  }

  becomeProbe(): void {
    const after = this.#state === 'checkpoint' ? this.pendingCheckpoint + 1 : 0;
    this.#reset('probe');
    this.#next = Math.max(this.#match + 1, after);
  }

  /** A transfer ended without an answer of the log: look again, but not before the next heartbeat answer. */
  becomeWaitingProbe(): void {
    this.becomeProbe();
    this.#waiting = true;
  }

  becomeReplicate(): void {
    this.#reset('replicate');
    this.#next = this.#match + 1;
  }

  becomeCheckpoint(): void {
    this.#reset('checkpoint');
  }

  #reset(state: ProgressState): void {
    this.#state = state;
    this.#waiting = false;
    this.#nudged = false;
    this.#inflight = [];
    this.#inflightBytes = 0;
    this.sentCommit = Math.min(this.sentCommit, this.#match);
    this.pendingCheckpoint = 0;
  }
}
