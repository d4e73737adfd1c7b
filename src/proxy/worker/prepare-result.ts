// Result of a thread that was asked to prepare a configuration: a veto, or the parts that it had to close.
import { describe, type Problem } from '../../model/problem.ts';

export interface PrepareResult {
  /** Why it cannot be installed, for people. Absent: it can. */
  readonly veto?: string;
  /** Problems, entities by id: parts that are closed, or the reasons of the veto. */
  readonly problems: readonly Problem[];
}

export const prepared: PrepareResult = { problems: [] };

/** A configuration cannot be installed; the former one stays. */
export class PrepareRefusal extends Error {
  override readonly name = 'Refusal';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], message = describe(problems)) {
    super(message);
    this.problems = problems;
  }
}

/** Returns the result for a failed attempt. */
export function vetoOf(error: unknown): PrepareResult & { readonly veto: string } {
  const veto = error instanceof Error ? error.message : String(error);
  return { veto, problems: error instanceof PrepareRefusal ? error.problems : [{ pointer: '', message: veto }] };
}
