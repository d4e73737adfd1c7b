// Users as lines of htpasswd: `name:hash`. Empty lines and those that begin with # do not count.
import { type PasswordHash, parsePasswordHash } from './password-hash.ts';

const usersMax = 10_000;

/** Returns the users by name, or the problem as the end of a sentence. It names the line and quotes nothing of it. */
export function parseHtpasswd(text: string): ReadonlyMap<string, PasswordHash> | string {
  const users = new Map<string, PasswordHash>();
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    if (name === '') return `must have name:hash in line ${at + 1}`;
    if (hasControl(name)) return `must have no control character in line ${at + 1}`;
    if (users.has(name)) return `must name each user once; line ${at + 1} names one again`;
    const hash = parsePasswordHash(line.slice(colon + 1).trim());
    if (typeof hash === 'string') return `must be usable; line ${at + 1} ${hash}`;
    users.set(name, hash);
    if (users.size > usersMax) return `must have at most ${usersMax} users`;
  }
  return users.size === 0 ? 'must have a user' : users;
}

/** Returns whether the text can be the name of a user: it is not empty and has no colon and no control character. */
export const isUserName = (text: string): boolean => text !== '' && !text.includes(':') && !hasControl(text);

const hasControl = (text: string): boolean => [...text].some((letter) => letter < ' ' || letter === '\u007f');
