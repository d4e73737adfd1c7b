// Collection of the secret references of a staged configuration and their values, on the node that handles the request
// (contract.md §2.9). Says of every one that has no value where it stands.
import { storedBodyBytesMax } from '../model/body-from.ts';
import { type Problem, pointerOf } from '../model/problem.ts';
import { findReferences, leftovers, type PlacedReference, replaceReferences } from '../model/secret-reference.ts';
import type { Stored } from '../state/view.ts';
import { holdersIn } from './listing.ts';
import { missingFor, readAs, type SecretSources, type SourceValue } from './secret-sources.ts';
import type { Staged } from './staged.ts';

/** Env and file values travel in one command; together they may not be larger. */
export const externalBytesMax = 2 * 1024 * 1024;

export interface Resolution {
  /** Value of every reference that has one, by the reference's whole text. */
  readonly values: Readonly<Record<string, string>>;
  /** Those of env and file references only: what a capture carries. */
  readonly external: Readonly<Record<string, string>>;
  /** References without a value, with pointers such as `/routes/<id>/forward/…`. */
  readonly problems: readonly Problem[];
}

/** Every reference with its place, kind by kind and ascending by id. */
export const referencesOf = (entities: Staged['entities']): readonly PlacedReference[] =>
  holdersIn(entities).flatMap(({ kind, entity }) =>
    findReferences(entity.spec).map((reference) => ({
      ...reference,
      pointer: pointerOf(kind, entity.id) + reference.pointer,
      valuePointer: pointerOf(kind, entity.id) + reference.valuePointer,
    })),
  );

/** Resolves references; each source is asked once per reference, however often it occurs. */
export async function resolveReferences(staged: Staged, sources: SecretSources): Promise<Resolution> {
  const values = new Map<string, string>();
  const external = new Map<string, string>();
  const missing = new Map<string, string>();
  const placed = referencesOf(staged.entities);
  const secrets = new Map(staged.secrets.map((secret) => [secret.id, secret]));
  const { inForce = {} } = staged;
  for (const [text, reference] of new Map(placed.map((reference) => [reference.text, reference]))) {
    const captured = Object.hasOwn(inForce, text) ? inForce[text] : undefined;
    if (captured !== undefined) {
      values.set(text, captured);
      continue;
    }
    const found = await lookUp(reference, secrets, sources);
    if (found.kind === 'missing') missing.set(text, found.why);
    else {
      values.set(text, found.value);
      if (reference.source !== 'value') external.set(text, found.value);
    }
  }
  const problems = placed.flatMap((reference) => [
    ...problemAt(reference.pointer, missing.get(reference.text)),
    ...largeBodyAt(reference, values.get(reference.text)),
  ]);
  const resolved = Object.fromEntries(values);
  return {
    values: resolved,
    external: Object.fromEntries(external),
    problems: [...problems, ...leftoverProblems(staged, resolved), ...sizeProblems(external)],
  };
}

async function lookUp(
  { source, argument }: PlacedReference,
  secrets: ReadonlyMap<string, Stored>,
  sources: SecretSources,
): Promise<SourceValue> {
  switch (source) {
    case 'env':
      return sources.env(argument);
    case 'file':
      return await sources.file(argument);
    case 'body':
      return await sources.body(argument);
    case 'value': {
      const value = secrets.get(argument)?.spec.value;
      return typeof value === 'string' ? readAs(value) : missingFor(`secret "${argument}" does not exist`);
    }
  }
}

/** After resolution nothing may look like a reference any more: a proxy would take it for the value. */
function leftoverProblems(staged: Staged, values: Resolution['values']): Problem[] {
  return holdersIn(staged.entities).flatMap(({ kind, entity }) => {
    const at = pointerOf(kind, entity.id);
    const written = new Set(leftovers(replaceReferences(entity.spec, () => blank)));
    const resolved = replaceReferences(entity.spec, ({ text }) => (Object.hasOwn(values, text) ? values[text] : blank));
    return leftovers(resolved).map((pointer) => ({
      pointer: at + pointer,
      message: written.has(pointer)
        ? 'holds {{secret: without a known source, an argument and }}'
        : 'holds a secret whose value holds {{secret: itself',
    }));
  });
}

/** Replacement of references whose problems are reported elsewhere. No part of a text becomes a reference by it. */
const blank = ' ';

function sizeProblems(external: ReadonlyMap<string, string>): Problem[] {
  let bytes = 0;
  for (const value of external.values()) bytes += Buffer.byteLength(value);
  if (bytes <= externalBytesMax) return [];
  return [
    { pointer: '', message: `values of env and file references take ${bytes} bytes, more than ${externalBytesMax}` },
  ];
}

/** A stored body that comes from a secret is bounded as one that comes from a text or a file. */
function largeBodyAt({ pointer, valuePointer }: PlacedReference, value: string | undefined): Problem[] {
  const isTooLarge = pointer !== valuePointer && value !== undefined && Buffer.byteLength(value) > storedBodyBytesMax;
  return isTooLarge ? [{ pointer, message: `names a body of more than ${storedBodyBytesMax} bytes` }] : [];
}

const problemAt = (pointer: string, why: string | undefined): Problem[] =>
  why === undefined ? [] : [{ pointer, message: `holds a secret reference without a value: ${why}` }];
