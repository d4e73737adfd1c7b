// Names of credentials, by which one that two consumers have is found: the type, and the fields that tell the consumer. A
// text without credentials, or of another form, has none.
import { isObject } from './json-object.ts';

/** Name of what two credentials share, for messages. */
const words = { apiKey: 'key', basic: 'user name', jwt: 'subject of that issuer' } as const;

export interface NamedCredential {
  readonly name: string;
  /** Place in the list. */
  readonly at: number;
  readonly word: string;
}

/** Returns the names of the credentials of an entity, in order. */
export function credentialNames(entity: { readonly credentials?: unknown }): readonly NamedCredential[] {
  const { credentials } = entity;
  if (!Array.isArray(credentials)) return [];
  return credentials.flatMap((credential: unknown, at): NamedCredential[] => {
    if (!isObject(credential)) return [];
    const { type, key, username, issuer, subject } = credential;
    if (type === 'apiKey') return [{ name: JSON.stringify([type, key]), at, word: words.apiKey }];
    if (type === 'basic') return [{ name: JSON.stringify([type, username]), at, word: words.basic }];
    if (type === 'jwt') return [{ name: JSON.stringify([type, issuer, subject]), at, word: words.jwt }];
    return [];
  });
}
