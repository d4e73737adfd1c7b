// From what was found at start to what this node may still do (raft.md A18). Pure: everything was read before.
// Clean takes part. Suspect may have lost its tail and waits for a leader to show that nothing acknowledged is
// missing. Poisoned has lost or mixed up something it had acknowledged, and never takes part again.
import type { LogVerdict } from './log-store.ts';
import type { Testimony } from './log-witness.ts';

export interface Evidence {
  /** The log holds nothing at all. */
  readonly empty: boolean;
  /** Problems found by the scan. */
  readonly problems: readonly string[];
  /** Bytes that are not what was written, and may never have been acknowledged. */
  readonly complaints: readonly string[];
  readonly testimony: Testimony;
  /** The number of the newest batch in the log; 0 when it is empty. */
  readonly persistSeq: number;
  readonly stoppedCleanly: boolean;
  /** Reasons of earlier starts that still stand. */
  readonly poison: string | undefined;
  readonly suspicion: string | undefined;
}

export function judge(evidence: Evidence): LogVerdict {
  const poison = poisonIn(evidence);
  if (poison !== undefined) return { kind: 'poisoned', reason: poison };
  const suspicion = suspicionIn(evidence);
  return suspicion === undefined ? { kind: 'clean' } : { kind: 'suspect', reason: suspicion };
}

function poisonIn({
  poison,
  problems,
  complaints,
  testimony,
  persistSeq,
  stoppedCleanly,
}: Evidence): string | undefined {
  if (poison !== undefined) return poison;
  if (problems[0] !== undefined) return problems[0];
  if (typeof testimony === 'object' && testimony.synced > persistSeq) {
    return `batch ${testimony.synced} was durable, the log ends with batch ${persistSeq}`;
  }
  if (stoppedCleanly && complaints[0] !== undefined) return `damaged after a clean stop: ${complaints[0]}`;
  return undefined;
}

function suspicionIn({ suspicion, complaints, testimony, empty }: Evidence): string | undefined {
  if (suspicion !== undefined) return suspicion;
  if (complaints[0] !== undefined) return complaints[0];
  if (testimony === 'damaged') return 'the witness file is damaged';
  if (testimony === 'absent' && !empty) return 'the witness file is missing';
  return undefined;
}
