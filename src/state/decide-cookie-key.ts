// Decision about another key of signed session cookies (contract.md §7.7): the oldest goes for it.
import { cookieKeysMax } from '../model/cookie-keys.ts';
import type { AddCookieKey } from './command.ts';
import type { Overlay } from './overlay.ts';
import type { Decision } from './refusals.ts';

/** The first of two that were made for the same keys counts: two nodes may believe to lead. */
export function addCookieKey(state: Overlay, { key, after, time }: AddCookieKey, index: number): Decision {
  const { cookieKeys } = state.live;
  if (cookieKeys.index !== after) return { status: 409, error: 'another key was made meanwhile' };
  const keys = [{ key, madeAt: time }, ...cookieKeys.keys].slice(0, cookieKeysMax);
  state.setCookieKeys({ index, keys });
  return { status: 200 };
}
