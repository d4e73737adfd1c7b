// Choice of a configuration by a caller: `active`, `staged`, or the id of a snapshot.
import { isDeepStrictEqual } from 'node:util';
import { SluiceError } from '../errors.ts';
import { configKinds } from '../model/kinds.ts';
import { describe } from '../model/problem.ts';
import { resolveReferences } from '../snapshot/collect.ts';
import { scanEntities } from '../snapshot/listing.ts';
import type { SecretSources } from '../snapshot/secret-sources.ts';
import { type Captured, stagedOf } from '../snapshot/staged.ts';
import type { Stored } from '../state/view.ts';
import { inSlices } from '../util/time-slice.ts';
import { notFound, type StateReader } from './state-reader.ts';

export interface ChosenConfiguration {
  /** Name of it for good; undefined for one that may change. */
  readonly key: string | undefined;
  readonly captured: Captured;
  /** `staged`, or the id of the snapshot. */
  readonly snapshot: string;
  /** Secrets beside it; a snapshot keeps none. */
  readonly secrets?: readonly Stored[];
}

interface ChoiceParts {
  readonly reader: StateReader;
  readonly sources: SecretSources;
}

/** Rejects with NOT_FOUND where there is none, and INVALID where a staged reference has no value. */
export async function chosenConfiguration(parts: ChoiceParts, choice: string): Promise<ChosenConfiguration> {
  const { view } = parts.reader;
  if (choice === 'staged') return await stagedNow(parts);
  const id = choice === 'active' ? view.active?.snapshotId : choice;
  if (id === undefined) throw new SluiceError('NOT_FOUND', 'no snapshot is active');
  const captured = view.snapshot(id);
  if (captured === undefined) throw notFound('snapshots', id);
  return { key: id, captured, snapshot: id };
}

/** Latest staged configuration: an equal one is the same object, so that what was found about it is kept. */
let latest: Captured | undefined;

function sameOf(captured: Captured): Captured {
  const isSame =
    latest !== undefined &&
    configKinds.every((kind) => latest?.entities[kind] === captured.entities[kind]) &&
    isDeepStrictEqual(latest.values, captured.values);
  if (!isSame) latest = captured;
  return latest ?? captured;
}

/** Returns the staged configuration as a capture would have it now. */
async function stagedNow({ reader, sources }: ChoiceParts): Promise<ChosenConfiguration> {
  const staged = stagedOf(reader.view);
  await inSlices(scanEntities(staged.entities));
  const { values, external, problems } = await resolveReferences(staged, sources);
  if (problems.length > 0) throw new SluiceError('INVALID', describe(problems));
  // Variables and files may change without a new revision.
  const isSettled = Object.keys(external).length === 0;
  return {
    key: isSettled ? `staged ${staged.changedAt}` : undefined,
    captured: isSettled ? sameOf({ entities: staged.entities, values }) : { entities: staged.entities, values },
    snapshot: 'staged',
    secrets: staged.secrets,
  };
}
