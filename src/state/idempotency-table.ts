// Table of what each `Idempotency-Key` was answered with (architecture.md §8). Oldest rows go first; age is log time,
// so every node forgets at the same index. Changed in place while a round is computed, like the request table.
import { createHash } from 'node:crypto';
import type { Idempotency, Result, Spec } from './command.ts';
import type { RoundRows } from './round-rows.ts';
import { keys } from './row-keys.ts';

export interface IdempotencyLimits {
  /** Lifetime in log time. */
  readonly ageMs: number;
  readonly rows: number;
  readonly bytes: number;
  /** A larger entity is not kept; its replay shows the entity as it is by then. */
  readonly specBytes: number;
}

export const idempotencyLimits: IdempotencyLimits = {
  ageMs: 24 * 3_600_000,
  rows: 100_000,
  bytes: 64 * 1024 * 1024,
  specBytes: 64 * 1024,
};

interface Row {
  readonly scope: string;
  readonly bodyHash: string;
  /** Log time at which it was kept. */
  readonly time: number;
  readonly result: Result;
  readonly spec?: Spec | undefined;
}

interface Kept extends Row {
  readonly bytes: number;
}

/** Expiry removes at most this many rows per command, so that a leap of the clock is paid in parts. */
const expiredPerCommand = 64;

export class IdempotencyTable {
  readonly #limits: IdempotencyLimits;
  /** In the order of their index. */
  readonly #rows = new Map<string, Kept>();
  #bytes = 0;

  constructor(limits: IdempotencyLimits = idempotencyLimits) {
    this.#limits = limits;
  }

  /** Returns the earlier answer under this key, or undefined when the key is free. */
  replay({ scope, bodyHash }: Idempotency, index: number, logTime: number): Result | undefined {
    const row = this.#rows.get(scope);
    if (row === undefined || this.#expired(row, logTime)) return undefined;
    if (row.bodyHash === bodyHash) return { ...row.result, replay: row.spec === undefined ? {} : { spec: row.spec } };
    const { kind, id } = row.result;
    return { index, status: 422, kind, id, error: 'the Idempotency-Key was used with another body' };
  }

  keep(of: Idempotency, result: Result, spec: Spec | undefined, logTime: number, rows: RoundRows): void {
    this.#remove(of.scope, result.index, rows);
    const specText = spec === undefined ? '' : JSON.stringify(spec);
    const small = specText.length > 0 && Buffer.byteLength(specText) <= this.#limits.specBytes;
    const row: Row = { scope: of.scope, bodyHash: of.bodyHash, time: logTime, result, spec: small ? spec : undefined };
    const text = JSON.stringify(row);
    this.#add(row, text);
    rows.put(rowKey(of.scope), text, result.index);
    while (this.#rows.size > this.#limits.rows || this.#bytes > this.#limits.bytes) {
      this.#removeOldest(result.index, rows);
    }
  }

  expire(index: number, logTime: number, rows: RoundRows): void {
    for (let removed = 0; removed < expiredPerCommand; removed++) {
      const [oldest] = this.#rows.values();
      if (oldest === undefined || !this.#expired(oldest, logTime)) return;
      this.#remove(oldest.scope, index, rows);
    }
  }

  load(texts: Iterable<string>): void {
    const rows = Array.from(texts, (text) => ({ text, row: JSON.parse(text) as Row }));
    rows.sort((a, b) => a.row.result.index - b.row.result.index);
    for (const { row, text } of rows) this.#add(row, text);
  }

  #expired(row: Row, logTime: number): boolean {
    return row.time + this.#limits.ageMs <= logTime;
  }

  #add(row: Row, text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#rows.set(row.scope, { ...row, bytes });
    this.#bytes += bytes;
  }

  #removeOldest(index: number, rows: RoundRows): void {
    const [oldest] = this.#rows.keys();
    if (oldest !== undefined) this.#remove(oldest, index, rows);
  }

  #remove(scope: string, index: number, rows: RoundRows): void {
    const row = this.#rows.get(scope);
    if (row === undefined) return;
    this.#rows.delete(scope);
    this.#bytes -= row.bytes;
    rows.delete(rowKey(scope), index);
  }
}

const rowKey = (scope: string): string => keys.idempotency(createHash('sha256').update(scope).digest('hex'));
