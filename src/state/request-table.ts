// Table of requests that were applied already, with their results (raft.md A15). A retry finds its first result here
// instead of a second effect. Forgetting follows the log alone, so it happens at the same index on every node.
//
// Changed in place while a round is computed: only apply reads it, and after a failed write nothing is applied.
import type { RequestId } from '../model/answers/member-messages.ts';
import type { Result } from './command.ts';
import type { RoundRows } from './round-rows.ts';
import { keys } from './row-keys.ts';

export const resultsMax = 4_096;
/**
 * A boot is forgotten this many ms of log time after a newer boot of the same store was seen. Boots of different stores of
 * one node have no order: a late first command of a store that was wiped must not end the one that took its place. Of a
 * boot that is silent for as long after another store was heard of, only the results go.
 */
export const supersededMs = 3_600_000;

interface BootRow {
  readonly ackedBelow: number;
  readonly supersededAt?: number | undefined;
}

type BootId = Pick<RequestId, 'origin' | 'incarnation' | 'boot'>;

interface Boot extends BootId {
  /** Key of its row, and the prefix of its results' keys. */
  readonly key: string;
  readonly resultsKey: string;
  ackedBelow: number;
  supersededAt: number | undefined;
  /** With the key of its row, which is asked for twice. */
  readonly results: Map<number, Kept>;
}

interface Kept {
  readonly key: string;
  readonly result: Result;
}

/** Standing of a request: unknown, answered with a result, or not executed for a reason. */
export type RequestStanding =
  | { readonly is: 'new' }
  | { readonly is: 'answered'; readonly result: Result }
  | { readonly is: 'refused'; readonly why: string };

export class RequestTable {
  readonly #boots = new Map<string, Boot>();
  readonly #floors = new Map<string, number>();
  /** Boot of the latest command: many commands in a row come from one node. */
  #recent: Boot | undefined;
  #nextExpiry = Number.POSITIVE_INFINITY;

  /** Says whether a command is to be executed, and forgets what its request id and the log time allow to forget. */
  admit(id: RequestId, index: number, logTime: number, rows: RoundRows): RequestStanding {
    this.#expire(index, logTime, rows);
    if (this.#floors.size > 0 && id.boot < (this.#floors.get(keys.floor(id.origin, id.incarnation)) ?? 0)) {
      return { is: 'refused', why: 'the request comes from an earlier start of its node' };
    }
    const boot = this.#bootOf(id, index, logTime, rows);
    if (id.ackedBelow > boot.ackedBelow) {
      this.#forgetBelow(boot, id.ackedBelow, index, rows);
      writeBoot(boot, index, rows);
    }
    const known = boot.results.get(id.seq);
    if (known !== undefined) return { is: 'answered', result: known.result };
    return id.seq < boot.ackedBelow ? { is: 'refused', why: 'the request was answered before' } : { is: 'new' };
  }

  keep(id: RequestId, result: Result, index: number, rows: RoundRows): void {
    const boot = this.#known(id);
    if (boot === undefined) return;
    const key = `${boot.resultsKey}${id.seq}`;
    const isNew = !boot.results.has(id.seq);
    boot.results.set(id.seq, { key, result });
    rows.put(key, JSON.stringify(result), index, isNew);
    if (boot.results.size <= resultsMax) return;
    this.#forgetBelow(boot, Math.min(...boot.results.keys()) + 1, index, rows);
    writeBoot(boot, index, rows);
  }

  loadBoot(origin: string, incarnation: number, boot: number, text: string): void {
    const { ackedBelow, supersededAt } = JSON.parse(text) as BootRow;
    this.#boots.set(
      keys.boot(origin, incarnation, boot),
      newBoot({ origin, incarnation, boot }, ackedBelow, supersededAt),
    );
    this.#expectExpiry(supersededAt);
  }

  /** After every boot was loaded. */
  loadResult(origin: string, incarnation: number, boot: number, seq: number, text: string): void {
    const known = this.#boots.get(keys.boot(origin, incarnation, boot));
    known?.results.set(seq, { key: `${known.resultsKey}${seq}`, result: JSON.parse(text) as Result });
  }

  loadFloor(origin: string, incarnation: number, text: string): void {
    this.#floors.set(keys.floor(origin, incarnation), Number(text));
  }

  #known(id: BootId): Boot | undefined {
    const { origin, incarnation, boot } = id;
    const recent = this.#recent;
    if (recent?.boot === boot && recent.incarnation === incarnation && recent.origin === origin) return recent;
    this.#recent = this.#boots.get(keys.boot(origin, incarnation, boot));
    return this.#recent;
  }

  #bootOf({ origin, incarnation, boot }: RequestId, index: number, logTime: number, rows: RoundRows): Boot {
    const known = this.#known({ origin, incarnation, boot });
    if (known !== undefined) {
      this.#heardAgain(known, index, rows);
      return known;
    }
    const made = newBoot({ origin, incarnation, boot }, 1, undefined);
    for (const other of [...this.#boots.values()].filter((each) => each.origin === origin)) {
      const isReplaced = other.incarnation === incarnation && other.boot < boot && this.#isNewest(other);
      const isNewer = other.incarnation === incarnation && other.boot > boot;
      const older = isNewer ? made : other;
      if (older.supersededAt !== undefined && !isReplaced) continue;
      older.supersededAt = logTime;
      this.#expectExpiry(logTime);
      if (older === other) writeBoot(other, index, rows);
    }
    this.#boots.set(made.key, made);
    writeBoot(made, index, rows);
    return made;
  }

  /** Returns whether it is the newest boot of its store. */
  #isNewest({ origin, incarnation, boot }: Boot): boolean {
    for (const other of this.#boots.values())
      if (other.origin === origin && other.incarnation === incarnation && other.boot > boot) return false;
    return true;
  }

  /** Notes that a boot is alive although another store of its node is known. */
  #heardAgain(boot: Boot, index: number, rows: RoundRows): void {
    if (boot.supersededAt === undefined || !this.#isNewest(boot)) return;
    boot.supersededAt = undefined;
    writeBoot(boot, index, rows);
  }

  #forgetBelow(boot: Boot, below: number, index: number, rows: RoundRows): void {
    const forget = (seq: number): void => {
      const kept = boot.results.get(seq);
      if (kept === undefined) return;
      boot.results.delete(seq);
      rows.delete(kept.key, index);
    };
    if (below - boot.ackedBelow > boot.results.size) {
      for (const seq of [...boot.results.keys()]) if (seq < below) forget(seq);
    } else {
      for (let seq = boot.ackedBelow; seq < below; seq++) forget(seq);
    }
    boot.ackedBelow = below;
  }

  #expire(index: number, logTime: number, rows: RoundRows): void {
    if (logTime < this.#nextExpiry) return;
    this.#nextExpiry = Number.POSITIVE_INFINITY;
    for (const [key, boot] of this.#boots) {
      if (boot.supersededAt === undefined) continue;
      if (logTime < boot.supersededAt + supersededMs) this.#expectExpiry(boot.supersededAt);
      else if (this.#isNewest(boot)) this.#settle(boot, index, rows);
      else this.#drop(key, boot, index, rows);
    }
  }

  /** Executes later commands of a boot again; its earlier ones are never executed, not even late. */
  #settle(boot: Boot, index: number, rows: RoundRows): void {
    boot.supersededAt = undefined;
    if (boot.results.size > 0) this.#forgetBelow(boot, Math.max(...boot.results.keys()) + 1, index, rows);
    writeBoot(boot, index, rows);
  }

  #drop(key: string, boot: Boot, index: number, rows: RoundRows): void {
    this.#boots.delete(key);
    this.#recent = undefined;
    rows.delete(key, index);
    this.#forgetBelow(boot, Number.POSITIVE_INFINITY, index, rows);
    const floorKey = keys.floor(boot.origin, boot.incarnation);
    const floor = Math.max(this.#floors.get(floorKey) ?? 0, boot.boot + 1);
    this.#floors.set(floorKey, floor);
    rows.put(floorKey, String(floor), index);
  }

  #expectExpiry(supersededAt: number | undefined): void {
    if (supersededAt !== undefined) this.#nextExpiry = Math.min(this.#nextExpiry, supersededAt + supersededMs);
  }
}

function writeBoot(boot: Boot, index: number, rows: RoundRows): void {
  const row: BootRow = { ackedBelow: boot.ackedBelow, supersededAt: boot.supersededAt };
  rows.put(boot.key, JSON.stringify(row), index);
}

const newBoot = (id: BootId, ackedBelow: number, supersededAt: number | undefined): Boot => ({
  ...id,
  key: keys.boot(id.origin, id.incarnation, id.boot),
  resultsKey: keys.results(id.origin, id.incarnation, id.boot),
  ackedBelow,
  supersededAt,
  results: new Map(),
});
