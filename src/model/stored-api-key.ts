// API keys of consumers as they are stored: `sha256:` and the hexadecimal SHA-256 of the key. A key is random text, so that
// its hash needs neither salt nor cost.
import { hash } from 'node:crypto';

const prefix = 'sha256:';
const hashed = /^sha256:[0-9a-f]{64}$/;

/** Printable ASCII, as it travels in a header, with blanks between other characters alone; at most 1,024 characters. */
export const apiKeyPattern = /^[!-~]([ -~]{0,1022}[!-~])?$/;

/** Returns the stored form of a key. Stored forms, and texts that are no key, are returned as they are. */
export const storedKey = (text: string): string =>
  text.startsWith(prefix) || !apiKeyPattern.test(text) ? text : prefix + hash('sha256', text, 'hex');

/** Returns the problem of a text that is neither a key nor its stored form. It quotes nothing of it. */
export const apiKeyProblem = (text: string): string | undefined =>
  hashed.test(text) || (!text.startsWith(prefix) && apiKeyPattern.test(text))
    ? undefined
    : 'must be a key of 1 to 1024 printable ASCII characters without a blank at its ends, or sha256: and 64 hexadecimal digits';

/** Returns the bytes of the hash in a stored form; undefined when the text is none. */
export const hashOfStoredKey = (text: string): Buffer | undefined =>
  hashed.test(text) ? Buffer.from(text.slice(prefix.length), 'hex') : undefined;

/** Returns an entity with the keys of its credentials in their stored form. Others are returned as they are. */
export function withStoredKeys<T extends Readonly<Record<string, unknown>>>(entity: T): T {
  const { credentials } = entity;
  if (!Array.isArray(credentials)) return entity;
  return { ...entity, credentials: credentials.map(withStoredKey) };
}

function withStoredKey(credential: unknown): unknown {
  if (typeof credential !== 'object' || credential === null || !('key' in credential)) return credential;
  const { key } = credential;
  return typeof key === 'string' ? { ...credential, key: storedKey(key) } : credential;
}
