// State and store together: a round is computed, written and synced, and then shown, in this order and one at a time. A
// reader never sees what is not on disk (architecture.md §7.3). The first failed write is the last one: what is on disk
// is not known any more, so nothing is applied until the process starts again (raft.md P13).

import type { Command } from './command.ts';
import { CommandNotUnderstood, decodeCommand, encodeCommand, type Malformed } from './command-codec.ts';
import type { Activation, Applied, ConfigState, Entry } from './config-state.ts';
import { type Identity, type OpenedState, type OpenOptions, openState } from './opening.ts';
import type { Store } from './store.ts';
import type { StateView } from './view.ts';

export interface CommandEntry {
  readonly index: number;
  readonly bytes: Uint8Array;
}

export interface AppliedRound {
  readonly results: readonly Applied[];
  readonly activation: Activation | undefined;
}

export class DurableState {
  readonly identity: Identity;
  readonly warnings: readonly string[];
  readonly #store: Store;
  readonly #opened: OpenedState;
  readonly #subscribers = new Set<(reason: string) => void>();
  #failed: string | undefined;
  #writing = false;

  private constructor(store: Store, opened: OpenedState) {
    this.#store = store;
    this.#opened = opened;
    this.identity = opened.identity;
    this.warnings = opened.warnings;
  }

  /** Takes the store over: `close` closes it, and so does a failed opening. */
  static async open(store: Store, options: OpenOptions): Promise<DurableState> {
    try {
      return new DurableState(store, await openState(store, options));
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  get view(): StateView {
    return this.#state;
  }

  /** Why nothing is applied any more: `storage failed: …`. Undefined while all is well. */
  get failed(): string | undefined {
    return this.#failed;
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

  /** A command as the log carries it. */
  encode(command: Command): Uint8Array {
    return encodeCommand(command, this.#opened.cipher);
  }

  /** What the bytes of the log say. Throws CommandNotUnderstood for a command of a newer program or another key. */
  decode(bytes: Uint8Array): Command | Malformed {
    return decodeCommand(bytes, this.#opened.cipher);
  }

  /**
   * Applies the commands up to and including index `last`; resolves once they are on disk and visible.
   * Rejects when they could not be written, and for ever after.
   */
  async apply(entries: readonly CommandEntry[], last: number): Promise<AppliedRound> {
    if (this.#failed !== undefined) throw new Error(this.#failed);
    if (this.#writing) throw new Error('a round is being written already');
    this.#writing = true;
    try {
      const { results, activation, rows, applied, hash, commit } = this.#state.prepare(this.#decoded(entries), last);
      const changes = rows.map((row) => this.#opened.codec.encode(row));
      await this.#store.write(changes, { applied, hash, boot: this.identity.boot });
      commit();
      return { results, activation };
    } catch (error) {
      this.#fail(error);
      throw error;
    } finally {
      this.#writing = false;
    }
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  get #state(): ConfigState {
    return this.#opened.state;
  }

  #decoded(entries: readonly CommandEntry[]): Entry[] {
    return entries.map(({ index, bytes }) => ({ index, command: this.decode(bytes) }));
  }

  #fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const what =
      error instanceof CommandNotUnderstood ? 'the log holds what this program does not understand' : 'storage failed';
    this.#failed = `${what}: ${reason}`;
    for (const subscriber of this.#subscribers) subscriber(this.#failed);
  }
}
