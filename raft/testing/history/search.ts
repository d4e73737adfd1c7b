// A second opinion that does not trust our indexes: looks for any order of the operations on one register that
// explains all answers and respects real time (Wing and Gong's search, with visited states remembered).
import type { Operation } from './history.ts';

export type SearchResult = 'linearizable' | 'not linearizable' | 'not proven';

const maxOperations = 200;

/** Checks each register on its own; `maxStates` bounds the search, and running out of it proves nothing. */
export function searchOrder(history: readonly Operation[], maxStates = 200_000): SearchResult {
  const registers = new Set(history.map(({ register }) => register));
  let result: SearchResult = 'linearizable';
  for (const register of registers) {
    const found = searchRegister(relevant(history, register), maxStates);
    if (found === 'not linearizable') return found;
    if (found === 'not proven') result = found;
  }
  return result;
}

/** The beginning of a history is a history too, if what had not ended by then counts as unanswered. */
export function firstPart(history: readonly Operation[]): Operation[] {
  const cut = history[150]?.returnedAt ?? Number.POSITIVE_INFINITY;
  return history
    .filter(({ invokedAt }) => invokedAt <= cut)
    .map((each) => (each.returnedAt !== undefined && each.returnedAt <= cut ? each : { ...each, outcome: 'unknown' }));
}

/**
 * Returns the operations that constrain the order. Denied writes and unanswered reads do not, nor do unknown writes
 * that no read saw.
 */
function relevant(history: readonly Operation[], register: number): Operation[] {
  const own = history.filter((operation) => operation.register === register);
  const seen = new Set(
    own.filter(({ kind, outcome }) => kind === 'read' && outcome === 'ok').map(({ value }) => value),
  );
  const isPossible = ({ kind, outcome, op }: Operation) => kind === 'write' && outcome === 'unknown' && seen.has(op);
  return own.filter((operation) => operation.outcome === 'ok' || isPossible(operation));
}

interface Node {
  readonly operation: Operation;
  readonly end: number;
}

function searchRegister(operations: readonly Operation[], maxStates: number): SearchResult {
  if (operations.length > maxOperations) return 'not proven';
  const nodes: Node[] = operations
    .map((operation) => ({
      operation,
      // An operation of unknown outcome may take effect at any later time.
      end: operation.outcome === 'ok' ? operation.returnedAt! : Number.POSITIVE_INFINITY,
    }))
    .sort((a, b) => a.operation.invokedAt - b.operation.invokedAt);
  return new RegisterSearch(nodes, maxStates).run();
}

class RegisterSearch {
  readonly #nodes: readonly Node[];
  readonly #maxStates: number;
  readonly #visited = new Set<string>();
  readonly #done: Uint8Array;
  /** All before it are done. */
  #first = 0;
  /** Operations that were answered and are not done. */
  #unexplained: number;

  constructor(nodes: readonly Node[], maxStates: number) {
    this.#nodes = nodes;
    this.#maxStates = maxStates;
    this.#done = new Uint8Array(nodes.length);
    this.#unexplained = nodes.filter(({ operation }) => operation.outcome === 'ok').length;
  }

  run(): SearchResult {
    const found = this.#explain(0);
    if (found) return 'linearizable';
    return this.#visited.size >= this.#maxStates ? 'not proven' : 'not linearizable';
  }

  /** Tries every operation that may come next while the register holds `value`. */
  #explain(value: number): boolean {
    if (this.#unexplained === 0) return true;
    const first = this.#firstOpen();
    const key = `${value}|${first}|${this.#doneFrom(first)}`;
    if (this.#visited.has(key) || this.#visited.size >= this.#maxStates) return false;
    this.#visited.add(key);
    const firstEnd = this.#firstEnd(first);
    for (let at = first; at < this.#nodes.length && this.#nodes[at]!.operation.invokedAt <= firstEnd; at += 1)
      if (this.#done[at] === 0 && this.#tryNext(at, first, value)) return true;
    return false;
  }

  #firstOpen(): number {
    let at = this.#first;
    while (this.#done[at] === 1) at += 1;
    return at;
  }

  /** Returns which operations behind the first open one are done: one character for fifteen of them. */
  #doneFrom(first: number): string {
    let key = '';
    let bits = 0;
    let isEmpty = true;
    for (let at = this.#nodes.length - 1, place = (at - first) % 15; at >= first; at -= 1) {
      bits = bits * 2 + this.#done[at]!;
      if (this.#done[at] === 1) isEmpty = false;
      if (place === 0) {
        if (!isEmpty) key += String.fromCharCode(bits);
        bits = 0;
        place = 15;
      }
      place -= 1;
    }
    return key;
  }

  /** Returns when the first of the open operations ended; those that begin later cannot come before it. */
  #firstEnd(first: number): number {
    let end = Number.POSITIVE_INFINITY;
    for (let at = first; at < this.#nodes.length && this.#nodes[at]!.operation.invokedAt <= end; at += 1)
      if (this.#done[at] === 0) end = Math.min(end, this.#nodes[at]!.end);
    return end;
  }

  #tryNext(at: number, first: number, value: number): boolean {
    const { operation } = this.#nodes[at]!;
    if (operation.kind === 'read' && operation.value !== value) return false;
    const isAnswered = operation.outcome === 'ok';
    const before = this.#first;
    this.#first = first;
    this.#done[at] = 1;
    if (isAnswered) this.#unexplained -= 1;
    const isExplained = this.#explain(operation.kind === 'write' ? operation.op : value);
    this.#done[at] = 0;
    if (isAnswered) this.#unexplained += 1;
    this.#first = before;
    return isExplained;
  }
}
