// The SHA-256 that names the content of a snapshot as proxies get it: over the canonical JSON of its lists, references
// resolved. Computed in steps, for ten thousand entities take a tenth of a second, and once, for a snapshot never changes.
import { createHash } from 'node:crypto';
import { canonicalJson } from '../model/config-digest.ts';
import { configKinds, isWritten } from '../model/kinds.ts';
import { resolvedSpec } from './build.ts';
import type { Captured } from './staged.ts';

const known = new WeakMap<Captured['entities'], string>();
/** Characters that are hashed at a time: each call costs more than an entity. */
const pieceLength = 16_384;
const order = [...configKinds].sort();

/** 64 hex digits; the same as `configDigest` of the configuration. */
export function* digestOf({ entities, values }: Captured): Generator<void, string> {
  const found = known.get(entities);
  if (found !== undefined) return found;
  const hash = createHash('sha256');
  const written = order.filter((kind) => isWritten(kind, entities[kind]));
  for (const [at, kind] of written.entries()) {
    let text = `${at === 0 ? '{' : ','}"${kind}":[`;
    for (const [place, entity] of entities[kind].entries()) {
      if (place > 0) text += ',';
      text += entity.holdsReferences ? canonicalJson(resolvedSpec(entity, values)) : entity.canonical;
      if (text.length >= pieceLength) {
        hash.update(text);
        text = '';
      }
      yield;
    }
    hash.update(`${text}]`);
  }
  const digest = hash.update('}').digest('hex');
  known.set(entities, digest);
  return digest;
}
