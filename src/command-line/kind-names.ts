// Names of kinds as people write them: `routes`, `route`, `Route`.
import { type EditableKind, editableKinds, nounOf } from '../model/kinds.ts';
import { nearestWord } from '../util/nearest-word.ts';
import { failed, wrongUsage } from './exit.ts';

const byName = new Map(
  editableKinds.flatMap((kind): [string, EditableKind][] => [
    [kind.toLowerCase(), kind],
    [nounOf(kind).toLowerCase(), kind],
  ]),
);

/** Returns the kind, or undefined for a word that is none. */
export const kindNamed = (word: string): EditableKind | undefined => byName.get(word.toLowerCase());

/** Returns the kind that an argument names. Throws wrong usage, with the nearest one. */
export function kindOf(word: string): EditableKind {
  const kind = kindNamed(word);
  if (kind !== undefined) return kind;
  throw wrongUsage(`${word} is not a kind${meant(word, editableKinds)}; kinds are ${editableKinds.join(', ')}`);
}

/** Returns ` (did you mean "pay"?)`, or nothing where no known word is near. */
export function meant(word: string, known: Iterable<string>): string {
  const near = nearestWord(word, known);
  return near === undefined ? '' : ` (did you mean "${near}"?)`;
}

/** Failure for a name that no resource of the kind has. */
export const unknownName = (kind: EditableKind, name: string, known: Iterable<string>) =>
  failed(`${nounOf(kind)} "${name}" is not there${meant(name, known)}`);
