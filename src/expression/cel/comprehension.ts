// Macros that loop or bind: all, exists, exists_one, map, filter over lists and the keys of maps, and cel.bind.
// Each round spends what its body weighs: nested loops over what a client sent end in a failure, not in a busy thread.
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Frame, Run, Scope } from './stack-frame.ts';
import { type Comprehension, sizeOf } from './syntax.ts';
import { Failure, isPlainMap, keysOf, noSuchOverload, notABool, tooMuchWork, type Value } from './values.ts';

type Round<Input> = (frame: Frame<Input>, item: Value) => Value;
type Loop<Input> = (frame: Frame<Input>, items: readonly Value[]) => Value;

/** `compile` is compileNode, handed in because it calls us. */
export function compileComprehension<Input>(
  { macro, variable, over, body }: Comprehension,
  scope: Scope<Input>,
  compile: (node: ASTNode, scope: Scope<Input>) => Run<Input>,
): Run<Input> {
  const slot = scope.depth;
  const inner = { ...scope, variables: new Map(scope.variables).set(variable, slot), depth: slot + 1 };
  const source = compile(over, scope);
  const [first, second] = body.map((node) => compile(node, inner));
  if (!first) throw new TypeError('a macro has a body');
  const cost = 1 + (body.reduce((sum, node) => sum + sizeOf(node), 0) >> 3);
  const round: Round<Input> = (frame, item) => {
    frame.steps -= cost;
    frame.slots[slot] = item;
    return first(frame);
  };
  if (macro === 'bind') return bind(source, round);
  return overItems(source, loopOf(macro, round, second));
}

function bind<Input>(source: Run<Input>, round: Round<Input>): Run<Input> {
  return (frame) => {
    const value = source(frame);
    return value instanceof Failure ? value : round(frame, value);
  };
}

function overItems<Input>(source: Run<Input>, loop: Loop<Input>): Run<Input> {
  return (frame) => {
    const value = source(frame);
    if (value instanceof Failure) return value;
    if (Array.isArray(value)) return loop(frame, value);
    if (!isPlainMap(value)) return noSuchOverload;
    const keys = keysOf(value);
    frame.steps -= keys.length >> 3;
    return loop(frame, keys);
  };
}

function loopOf<Input>(macro: Comprehension['macro'], round: Round<Input>, then: Run<Input> | undefined): Loop<Input> {
  if (macro === 'exists') return quantifier(round, true);
  if (macro === 'all') return quantifier(round, false);
  if (macro === 'exists_one') return collected(round, (kept) => kept.length === 1);
  if (macro === 'filter') return collected(round, (kept) => kept);
  return then ? collected(round, (kept) => kept, then) : mapped(round);
}

/** `exists` is decided by one true, `all` by one false; failures count only when nothing decides. */
function quantifier<Input>(round: Round<Input>, decides: boolean): Loop<Input> {
  return (frame, items) => {
    let failure: Failure | undefined;
    for (const item of items) {
      if (frame.steps < 0) return tooMuchWork;
      const value = round(frame, item);
      if (value === decides) return decides;
      if (value !== !decides) failure ??= value instanceof Failure ? value : notABool;
    }
    return failure ?? !decides;
  };
}

/** Keeps the items for which the predicate holds, as `then` makes them; any failure fails the whole. */
function collected<Input>(round: Round<Input>, result: (kept: Value[]) => Value, then?: Run<Input>): Loop<Input> {
  return (frame, items) => {
    const kept: Value[] = [];
    for (const item of items) {
      if (frame.steps < 0) return tooMuchWork;
      const holds = round(frame, item);
      if (typeof holds !== 'boolean') return holds instanceof Failure ? holds : notABool;
      if (!holds) continue;
      const value = then ? then(frame) : item;
      if (value instanceof Failure) return value;
      kept.push(value);
    }
    return result(kept);
  };
}

function mapped<Input>(round: Round<Input>): Loop<Input> {
  return (frame, items) => {
    const values: Value[] = [];
    for (const item of items) {
      if (frame.steps < 0) return tooMuchWork;
      const value = round(frame, item);
      if (value instanceof Failure) return value;
      values.push(value);
    }
    return values;
  };
}
