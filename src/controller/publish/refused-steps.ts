// Steps that Sluice refuses, found in its answer to a batch: an operation of it, or an entity of the snapshot that would be
// made. Further faults in the text of the answer are not read: they may quote what objects say.
import { editableKinds } from '../../model/kinds.ts';
import type { SluiceRefusal } from './sluice-api.ts';

const editable: ReadonlySet<string> = new Set(editableKinds);

export interface WrittenStep {
  /** Kind and id of the entity. */
  readonly key: string;
  /** Text of the entity; undefined where it is deleted. */
  readonly text: string | undefined;
}

/**
 * Returns the steps of a batch that are to be left out of it. Where the fault is in an entity that the batch leaves as it is,
 * that one needs what the batch deletes: the deletions wait. Empty: the answer is about none of them.
 */
export function refusedSteps<T extends WrittenStep>(refusal: SluiceRefusal, steps: readonly T[]): readonly T[] {
  const named = steps[refusal.operation ?? -1];
  if (named !== undefined) return [named];
  const [, kind, id = ''] = /^status \d+: \/snapshot\/(\w+)\/([^/ ]+)/.exec(refusal.message) ?? [];
  if (kind === undefined || !editable.has(kind)) return [];
  const key = `${kind}/${id.replaceAll('~1', '/').replaceAll('~0', '~')}`;
  const written = steps.filter((step) => step.key === key && step.text !== undefined);
  return written.length > 0 ? written : steps.filter(({ text }) => text === undefined);
}
