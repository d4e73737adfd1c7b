// Ids of entities in Sluice: kind, namespace, name and further parts of the object. A text that is too long ends in a hash
// of the whole.
import { createHash } from 'node:crypto';

const lengthMax = 512;
const hashLength = 16;

/** Characters that an id may not have; an underscore stands for each. */
const foreign = /[^A-Za-z0-9._~:-]/g;

/** Owner of a controller without settings. The ids of its entities have no prefix. */
export const defaultOwner = 'sluice-controller';

/** Parts that the ids of an owner's entities begin with: controllers of different owners may share one Sluice. */
export const idPrefixOf = (owner: string): readonly string[] =>
  owner === defaultOwner ? [] : [owner.replaceAll(':', '_')];

export function entityId(...parts: readonly (string | number)[]): string {
  const text = parts.join(':');
  const id = text.replace(foreign, '_');
  if (id === text && id.length <= lengthMax) return id;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, hashLength);
  return `${id.slice(0, lengthMax - hashLength - 1)}-${hash}`;
}
