// Credentials of consumers are of one consumer each: a second one would make it a matter of chance which consumer a request
// is of. Looked for once a write or a batch is done, so that consumers of one batch can exchange theirs.
import { credentialNames, type NamedCredential } from '../model/credential-name.ts';
import type { Kind } from '../model/kinds.ts';
import type { EntityName } from './command.ts';
import type { Overlay } from './overlay.ts';
import type { Decision } from './refusals.ts';
import type { Stored } from './view.ts';

/** Entities between two pauses. */
const stride = 256;

const known = new WeakMap<Stored, readonly NamedCredential[]>();

export interface SharedCredential {
  /** Id of the written consumer. */
  readonly id: string;
  readonly refusal: Decision;
}

/** Returns the first written consumer that has a credential twice, or one of another consumer. */
export function* sharedCredential(
  state: Overlay,
  written: ReadonlyMap<string, Stored>,
): Generator<void, SharedCredential | undefined> {
  const wanted = new Map<string, { readonly id: string; readonly at: number }>();
  for (const [id, consumer] of written) {
    for (const { name, at, word } of namesOf(consumer)) {
      const other = wanted.get(name);
      if (other?.id === id) return refused(id, at, `has the same ${word} as /credentials/${other.at}`);
      if (other !== undefined) return refused(id, at, `has the ${word} of consumer "${other.id}"`);
      wanted.set(name, { id, at });
    }
  }
  if (wanted.size === 0) return undefined;
  for (const [place, consumer] of (yield* state.sorted('consumers')).entries()) {
    if (place % stride === 0) yield;
    if (written.has(consumer.id)) continue;
    for (const { name, word } of namesOf(consumer)) {
      const mine = wanted.get(name);
      if (mine !== undefined) return refused(mine.id, mine.at, `has the ${word} of consumer "${consumer.id}"`);
    }
  }
  return undefined;
}

/** Returns the consumers among entities that were written and are there still. */
export function consumersAmong(state: Overlay, names: Iterable<EntityName>): ReadonlyMap<string, Stored> {
  const consumers = new Map<string, Stored>();
  for (const [kind, id] of names) {
    const consumer = kind === 'consumers' ? state.entity(kind, id) : undefined;
    if (consumer !== undefined) consumers.set(id, consumer);
  }
  return consumers;
}

/** The same for one entity of any kind. */
export function* sharedCredentialOf(
  state: Overlay,
  kind: Kind,
  written: Stored,
): Generator<void, Decision | undefined> {
  if (kind !== 'consumers') return undefined;
  return (yield* sharedCredential(state, new Map([[written.id, written]])))?.refusal;
}

function namesOf(consumer: Stored): readonly NamedCredential[] {
  const names = known.get(consumer) ?? credentialNames(consumer.spec);
  known.set(consumer, names);
  return names;
}

const refused = (id: string, at: number, message: string): SharedCredential => ({
  id,
  refusal: { status: 409, error: `/credentials/${at} ${message}` },
});
