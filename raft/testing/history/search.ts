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

/** Denied writes and unanswered reads say nothing, nor do unknown writes that nobody saw. */
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
      // Whoever does not know when it took effect must allow for ever.
      end: operation.outcome === 'ok' ? operation.returnedAt! : Number.POSITIVE_INFINITY,
    }))
    .sort((a, b) => a.operation.invokedAt - b.operation.invokedAt);
  return new RegisterSearch(nodes, maxStates).run();
}

class RegisterSearch {
  readonly #nodes: readonly Node[];
  readonly #maxStates: number;
  readonly #visited = new Set<string>();
  readonly #done: boolean[];

  constructor(nodes: readonly Node[], maxStates: number) {
    this.#nodes = nodes;
    this.#maxStates = maxStates;
    this.#done = nodes.map(() => false);
  }

  run(): SearchResult {
    const found = this.#explain(0);
    if (found) return 'linearizable';
    return this.#visited.size >= this.#maxStates ? 'not proven' : 'not linearizable';
  }

  /** Tries every operation that may come next while the register holds `value`. */
  #explain(value: number): boolean {
    const open = this.#nodes.filter((_, at) => !this.#done[at]);
    if (open.every(({ operation }) => operation.outcome !== 'ok')) return true;
    const key = `${value}|${this.#done.map(Number).join('')}`;
    if (this.#visited.has(key) || this.#visited.size >= this.#maxStates) return false;
    this.#visited.add(key);
    const firstEnd = Math.min(...open.map(({ end }) => end));
    return this.#nodes.some((node, at) => !this.#done[at] && this.#tryNext(node, at, value, firstEnd));
  }

  #tryNext({ operation }: Node, at: number, value: number, firstEnd: number): boolean {
    if (operation.invokedAt > firstEnd) return false;
    if (operation.kind === 'read' && operation.value !== value) return false;
    this.#done[at] = true;
    const isExplained = this.#explain(operation.kind === 'write' ? operation.op : value);
    this.#done[at] = false;
    return isExplained;
  }
}
