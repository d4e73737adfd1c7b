// A broken promise: which one, and what was seen.

export class Violation extends Error {
  override readonly name = 'Violation';
  /** B1…B28 as docs/raft.md lists them, or the name of another check. */
  readonly rule: string;

  constructor(rule: string, detail: string) {
    super(`${rule}: ${detail}`);
    this.rule = rule;
  }
}

export type Fail = (rule: string, detail: string) => void;
