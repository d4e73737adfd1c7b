// The pin cookies of contract.md §7.7: what a request carries, and what a response sets.
import { randomBytes } from 'node:crypto';

/** 16 random bytes as hexadecimal digits. They do not reveal the target of the session. */
export const newSession = (): string => randomBytes(16).toString('hex');

export function pinCookie(name: string, session: string, ttlSeconds: number): string {
  const age = ttlSeconds < 1 ? '' : `; Max-Age=${ttlSeconds}`;
  return `${name}=${session}; Path=/${age}; HttpOnly; SameSite=Lax`;
}

/** Value of the first cookie of that name in the value of a Cookie line; empty when there is none. */
export function cookieIn(line: string, name: string): string {
  for (let from = 0; from < line.length; ) {
    const semicolon = line.indexOf(';', from);
    const end = semicolon < 0 ? line.length : semicolon;
    while (from < end && isBlank(line.charCodeAt(from))) from++;
    if (line.startsWith(name, from) && line.charCodeAt(from + name.length) === equals) {
      const value = line.slice(from + name.length + 1, end).trim();
      const bare = value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
      if (bare !== '') return bare;
    }
    from = end + 1;
  }
  return '';
}

const equals = 0x3d;
const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;
