// The state of one evaluation, and what names mean at one place of a tree.
import type { Roots } from './roots.ts';
import type { Value } from './values.ts';

export interface Frame<Input> {
  input: Input;
  /** Variables of comprehensions and of cel.bind, by depth. */
  readonly slots: Value[];
  /** Work left; below 0 the evaluation fails. */
  steps: number;
}

/** One compiled node. Never throws on account of its operands: it answers a Failure. */
export type Run<Input> = (frame: Frame<Input>) => Value;

export interface Scope<Input> {
  readonly roots: Roots<Input>;
  /** Slot of each variable in sight. */
  readonly variables: ReadonlyMap<string, number>;
  /** Slots in use. */
  readonly depth: number;
}
