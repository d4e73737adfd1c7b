// State and store together: a round is computed, handed to the writer of the store, and then shown, one at a time. A reader
// never sees what is not on disk: it is in the log, and what proxies run waits for the store as well. A write that the system
// rejects is made again (round-writer.ts); after any other failure what is on disk is not known any more, and nothing is
// applied until the process starts again (raft.md P13).

import type { DiskProblem } from '../../disk/disk-problem.ts';
import { configKinds } from '../model/kinds.ts';
import { inSlices, type RunSteps, runSliced } from '../util/time-slice.ts';
import { fillStore, imageOf, type StateImage } from './checkpoint.ts';
import type { Command } from './command.ts';
import { CommandNotUnderstood, decodeCommand, encodeCommand, type Malformed } from './command-codec.ts';
import type { Activation, Applied, ConfigState, DecodedEntry } from './config-state.ts';
import { CurrentView } from './current-view.ts';
import { HashHistory } from './hash-history.ts';
import { type Identity, type OpenedState, type OpenOptions, openState } from './open-state.ts';
import type { LogStamp } from './overlay.ts';
import { RoundWriter, type WriteBehind } from './round-writer.ts';
import type { Store } from './store.ts';
import type { StateView } from './view.ts';

/** Entry of the log. */
export interface CommandEntry {
  readonly index: number;
  /** The command as the log carries it. */
  readonly payload: Uint8Array;
  /** Log time, Unix ms, in place of the time that the node of the caller stamped. */
  readonly time?: number;
}

export interface AppliedRound {
  readonly results: readonly Applied[];
  readonly activation: Activation | undefined;
  /** A rollout began, changed or ended. */
  readonly changesRollout: boolean;
}

/** A state that was built beside the present one. */
export interface Successor {
  readonly applied: number;
  readonly store: Store;
  readonly opened: OpenedState;
}

export interface DurableOptions extends OpenOptions {
  /** The store follows a log that can give again what it lost. Without it every round is on disk before it is shown. */
  readonly behind?: WriteBehind | undefined;
}

export class DurableState {
  readonly identity: Identity;
  readonly warnings: readonly string[];
  /** Follows the state through `adopt`. */
  readonly view: StateView = new CurrentView(() => this.#state);
  #store: Store;
  #opened: OpenedState;
  readonly #hashes = new HashHistory();
  readonly #run: RunSteps;
  readonly #behind: WriteBehind | undefined;
  #writer: RoundWriter;
  readonly #subscribers = new Set<(reason: string) => void>();
  readonly #waiting = new Set<(problem: DiskProblem | undefined) => void>();
  #failed: string | undefined;
  #applying = false;

  private constructor(store: Store, opened: OpenedState, { run = inSlices, behind }: DurableOptions) {
    this.#run = run;
    this.#behind = behind;
    this.#store = store;
    this.#opened = opened;
    this.#writer = this.#writerOf(store, opened);
    this.identity = opened.identity;
    this.warnings = opened.warnings;
    this.#hashes.restart(opened.state.applied, opened.state.hash);
  }

  /** Takes the store over: `close` closes it, and so does a failed opening. */
  static async open(store: Store, options: DurableOptions): Promise<DurableState> {
    try {
      return new DurableState(store, await openState(store, options), options);
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** Why nothing is applied any more: `storage failed: …`. Undefined while all is well. */
  get failed(): string | undefined {
    return this.#failed;
  }

  /** Why the store cannot be written for the time being; what was answered is in the log. Undefined while it can. */
  get waits(): DiskProblem | undefined {
    return this.#writer.problem;
  }

  /** Same on all nodes that encrypt with the same key; undefined when encryption is off. */
  get keyFingerprint(): string | undefined {
    return this.#opened.cipher?.fingerprint;
  }

  /** Calls `subscriber` once, when a write fails. Returns the end of the subscription. */
  onFailure(subscriber: (reason: string) => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Calls `subscriber` whenever `waits` has changed. */
  onWaits(subscriber: (problem: DiskProblem | undefined) => void): void {
    this.#waiting.add(subscriber);
  }

  /** State hash after each of the last rounds, by applied index, ascending. */
  get hashes(): ReadonlyMap<number, string> {
    return this.#hashes.entries;
  }

  /** A command as the log carries it. */
  encode(command: Command): Uint8Array {
    return encodeCommand(command, this.#opened.cipher);
  }

  /**
   * A command from the log's bytes.
   * @throws {CommandNotUnderstood} when applying it would stop this node
   */
  decode(bytes: Uint8Array): Command | Malformed {
    return decodeCommand(bytes, this.#opened.cipher);
  }

  /** The log's entry at the applied index; undefined when the state was written before there was a log. */
  get entry(): LogStamp | undefined {
    return this.#state.entry;
  }

  /**
   * Applies the commands up to and including index `last`; resolves once they are visible. Rejects when they could not be
   * written, and for ever after.
   *
   * @param known returns the command of an entry that this node has decoded already
   */
  async apply(
    entries: readonly CommandEntry[],
    last: number,
    entry?: LogStamp | null,
    known: (entry: CommandEntry) => Command | undefined = () => undefined,
  ): Promise<AppliedRound> {
    if (this.#failed !== undefined) throw new Error(this.#failed);
    if (this.#applying) throw new Error('a round is being applied already');
    this.#applying = true;
    try {
      const decoded = this.#decoded(entries, known);
      const steps = this.#state.prepareInSteps(decoded, last, entry);
      const bytes = entries.reduce((sum, { payload: { length } }) => sum + length, this.#capturedBytes(decoded));
      const round = await runSliced(bytes, steps, this.#run);
      const { results, activation, changesRollout, rows, applied, hash, commit } = round;
      const isAwaited = activation !== undefined || changesRollout;
      const written = this.#writer.add(rows, { applied, hash, boot: this.identity.boot }, isAwaited);
      if (written !== undefined) await written;
      commit();
      this.#hashes.add(applied, hash);
      return { results, activation, changesRollout };
    } catch (error) {
      this.#fail(error);
      throw error;
    } finally {
      this.#applying = false;
    }
  }

  /** The state as of a log of its own that begins after index `last`. For a cluster that is made from what is left. */
  async leaveLog(last: number): Promise<void> {
    await this.apply([], last, null);
    await this.#writer.flush();
  }

  /** Everything that is shown now, and on disk from then on: for a checkpoint. To be closed. */
  async image(): Promise<StateImage> {
    if (this.#failed !== undefined) throw new Error(this.#failed);
    await this.#writer.flush();
    return await imageOf(this.#store);
  }

  /**
   * Builds a state of this node from a checkpoint, in an empty store, and checks all of it. Takes the store over.
   * Nothing changes here before `adopt`.
   */
  async build(store: Store, content: AsyncIterable<Uint8Array>, options: OpenOptions): Promise<Successor> {
    try {
      await fillStore(store, content, this.identity, this.#opened.cipher);
      const opened = await openState(store, { run: this.#run, ...options });
      return { store, opened, applied: opened.state.applied };
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** Shows the successor from now on. Not while a round is written. */
  async adopt({ store, opened }: Successor): Promise<void> {
    if (this.#applying) throw new Error('a round is being applied');
    const former = this.#store;
    const writer = this.#writer;
    this.#store = store;
    this.#opened = opened;
    this.#writer = this.#writerOf(store, opened);
    this.#hashes.restart(opened.state.applied, opened.state.hash);
    await writer.abort();
    await former.close();
  }

  /**
   * Closes the state. All that is shown is on disk then, unless the store cannot be written: the log has it, and gives
   * it again at the next start.
   */
  async close(): Promise<void> {
    try {
      if (this.#failed === undefined) await this.#writer.finish();
    } finally {
      await this.#writer.abort();
      await this.#store.close();
    }
  }

  get #state(): ConfigState {
    return this.#opened.state;
  }

  /** About as much as captures among them write: their commands are short. */
  #capturedBytes(entries: readonly DecodedEntry[]): number {
    if (!entries.some(({ command }) => isCapture(command))) return 0;
    return configKinds.reduce((sum, kind) => sum + this.#state.list(kind).length, 0) * bytesOfEntity;
  }

  #decoded(entries: readonly CommandEntry[], known: (entry: CommandEntry) => Command | undefined): DecodedEntry[] {
    return entries.map((entry) => {
      const { index, payload, time } = entry;
      const command = known(entry) ?? this.decode(payload);
      return { index, command: time === undefined ? command : { ...command, time } };
    });
  }

  #writerOf(store: Store, { codec, state }: OpenedState): RoundWriter {
    const failed = (error: unknown): void => this.#fail(error);
    const waits = (problem: DiskProblem | undefined): void => {
      for (const subscriber of this.#waiting) subscriber(problem);
    };
    const { applied } = state;
    return new RoundWriter({ store, codec, run: this.#run, behind: this.#behind, applied, failed, waits });
  }

  #fail(error: unknown): void {
    if (this.#failed !== undefined) return;
    const reason = error instanceof Error ? error.message : String(error);
    const what =
      error instanceof CommandNotUnderstood ? 'the log holds what this program does not understand' : 'storage failed';
    this.#failed = `${what}: ${reason}`;
    for (const subscriber of this.#subscribers) subscriber(this.#failed);
  }
}

/** Bytes assumed for a short entity. */
const bytesOfEntity = 256;

const isCapture = (command: DecodedEntry['command']): boolean =>
  command.op === 'capture' || (command.op === 'batch' && command.snapshot !== undefined);
