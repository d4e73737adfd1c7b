// Ghost: an all-seeing observer that remembers who led, what was committed, and the hash of every prefix. Nodes never
// see it; the checkers compare them with it.

import type { Config, ConfigEntry, Entry, HardState, Index, MemberId, Term } from '../../core/types.ts';
import { type Activation, activationRegister, digestOne, mix, noActivation } from './state-machine.ts';
import type { Fail } from './violation.ts';

export interface CommittedEntry {
  readonly term: Term;
  /** The operation, or -1 for entries of raft's own. */
  readonly op: number;
  /** Term of the node that first knew that it was committed. */
  readonly committedIn: Term;
  readonly time: number;
}

/** State that every state machine holds at one position. */
export interface AgreedState {
  readonly hash: number;
  /** Digest of all registers. */
  readonly digest: number;
  readonly activation: Activation;
}

const termsPerIndex = 2 ** 20;

/** Meaning of the bytes of commands for the program above raft. */
export interface Commands {
  /** A number that stands for the bytes. */
  opOf(payload: Uint8Array): number;
  /** Returns the register of that operation; 0 in a program without registers. */
  registerOf(op: number): number;
}

export class Ghost {
  readonly #fail: Fail;
  readonly #leaders = new Map<Term, MemberId>();
  /** Voter → term → candidate, through all lives of the voter. */
  readonly #votes = new Map<MemberId, Map<Term, MemberId>>();
  /** (index, term) → hash of the log up to there. */
  readonly #chains = new Map<number, number>();
  /** `committed[i - 1]` is the entry at index i. */
  readonly committed: CommittedEntry[] = [];
  readonly configs: ConfigEntry[] = [];
  readonly #stateAt: AgreedState[] = [{ hash: 0, digest: 0, activation: noActivation }];
  readonly #registers = new Map<number, number>();
  readonly #commands: Commands;
  readonly #appliedOps = new Map<number, Index>();

  constructor(fail: Fail, commands: Commands) {
    this.#fail = fail;
    this.#commands = commands;
  }

  get lastCommitted(): Index {
    return this.committed.length;
  }

  get newestConfig(): Config | undefined {
    return this.configs.at(-1)?.config;
  }

  /** The last index that was committed before anyone led `term`. */
  committedBefore(term: Term): Index {
    return this.committed.findLastIndex(({ committedIn }) => committedIn < term) + 1;
  }

  /** The configuration in force at `index`. */
  configAt(index: Index): Config | undefined {
    return this.configs.findLast((entry) => entry.index <= index)?.config;
  }

  get elections(): number {
    return this.#leaders.size;
  }

  /** B1. */
  elected(id: MemberId, term: Term): void {
    const other = this.#leaders.get(term);
    if (other !== undefined && other !== id) this.#fail('B1', `${other} and ${id} both lead term ${term}`);
    this.#leaders.set(term, id);
  }

  leaderOf(term: Term): MemberId | undefined {
    return this.#leaders.get(term);
  }

  /** B11. */
  voted(voter: MemberId, term: Term, candidate: MemberId): void {
    let votes = this.#votes.get(voter);
    if (votes === undefined) {
      votes = new Map();
      this.#votes.set(voter, votes);
    }
    const other = votes.get(term);
    if (other !== undefined && other !== candidate)
      this.#fail('B11', `${voter} voted for ${other} and ${candidate} in term ${term}`);
    votes.set(term, candidate);
  }

  /** The disk of this voter lost what it said after `last`: voting again in these terms is not its fault. */
  forgets(voter: MemberId, last: HardState): void {
    const votes = this.#votes.get(voter);
    for (const [term, candidate] of votes ?? []) {
      const isLater = term > last.term || (term === last.term && last.vote !== candidate);
      if (isLater) votes?.delete(term);
    }
  }

  /** B3: an entry that follows (`index` - 1, `prevTerm`) on some disk. */
  stored(node: MemberId, entry: Entry, prevTerm: Term): void {
    const before = this.chain(entry.index - 1, prevTerm);
    if (before === undefined && entry.index > 1) return;
    const chain = mix(mix(before ?? 0, entry.term), this.#contentOf(entry));
    const key = entry.index * termsPerIndex + entry.term;
    const known = this.#chains.get(key);
    if (known === undefined) this.#chains.set(key, chain);
    else if (known !== chain) this.#fail('B3', `${node}: entry ${entry.index} of term ${entry.term} differs`);
  }

  chain(index: Index, term: Term): number | undefined {
    return index === 0 ? 0 : this.#chains.get(index * termsPerIndex + term);
  }

  /** B4, B5: the first node that commits an index decides what it is; all others must agree. */
  commits(node: MemberId, entry: Entry, committedIn: Term): void {
    const known = this.committed[entry.index - 1];
    const op = entry.kind === 'command' ? this.#commands.opOf(entry.payload) : -1;
    if (known !== undefined) {
      if (known.term !== entry.term || known.op !== op)
        this.#fail('B5', `${node} commits (${entry.index}, ${entry.term}), but it was (${known.term})`);
      return;
    }
    if (entry.index !== this.committed.length + 1) {
      this.#fail('B5', `${node} commits ${entry.index} after ${this.committed.length}`);
      return;
    }
    this.committed.push({ term: entry.term, op, committedIn, time: entry.time });
    if (entry.kind === 'config') this.#configCommitted(entry);
  }

  /** B12: two configurations that follow each other share a member in any two of their quorums. */
  #configCommitted(entry: ConfigEntry): void {
    const before = this.newestConfig;
    this.configs.push(entry);
    if (before === undefined) return;
    const pairs = halvesOf(before).flatMap((a) => halvesOf(entry.config).map((b) => [a, b] as const));
    if (!pairs.some(([a, b]) => quorumsIntersect(a, b)))
      this.#fail('B12', `configuration ${entry.index} shares no quorum member with the one before`);
  }

  /** B5, B6, B19: what a state machine applies. */
  applies(node: MemberId, index: Index, op: number): void {
    const expected = this.committed[index - 1];
    if (expected?.op !== op) this.#fail('B5', `${node} applies ${op} at ${index}, committed is ${expected?.op}`);
    const before = this.#appliedOps.get(op);
    if (before !== undefined && before !== index) this.#fail('B19', `operation ${op} takes effect twice`);
    this.#appliedOps.set(op, index);
  }

  #contentOf(entry: Entry): number {
    if (entry.kind === 'command') return this.#commands.opOf(entry.payload);
    if (entry.kind === 'noop') return 0x7fff_0001;
    const { voters, outgoing, learners } = entry.config;
    return [...voters, '|', ...outgoing, '|', ...learners].join().length + 0x7fff_1000;
  }

  hasState(node: MemberId, index: Index, hash: number): void {
    if (this.stateAt(index)?.hash !== hash) this.#fail('B6', `${node} has another state at ${index}`);
  }

  /** Undefined beyond what was committed. */
  stateAt(index: Index): AgreedState | undefined {
    while (this.#stateAt.length <= Math.min(index, this.lastCommitted)) this.#stateAt.push(this.#stateAfter());
    return this.#stateAt[index];
  }

  #stateAfter(): AgreedState {
    const index = this.#stateAt.length;
    const before = this.#stateAt.at(-1)!;
    const op = this.committed[index - 1]!.op;
    if (op < 0) return before;
    const register = this.#commands.registerOf(op);
    const former = this.#registers.get(register);
    this.#registers.set(register, op);
    const without = former === undefined ? before.digest : before.digest - digestOne(register, former);
    return {
      hash: mix(mix(before.hash, index), op),
      digest: without + digestOne(register, op),
      activation: register === activationRegister ? { index, op } : before.activation,
    };
  }

  /** Returns the index at which an operation took effect. */
  positionOf(op: number): Index | undefined {
    return this.#appliedOps.get(op);
  }
}

function halvesOf(config: Config): (readonly MemberId[])[] {
  return [config.voters, config.outgoing].filter((half) => half.length > 0);
}

/** Any majority of `a` meets any majority of `b`. */
function quorumsIntersect(a: readonly MemberId[], b: readonly MemberId[]): boolean {
  const all = new Set([...a, ...b]).size;
  return Math.floor(a.length / 2) + 1 + Math.floor(b.length / 2) + 1 > all;
}
