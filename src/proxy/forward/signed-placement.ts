// Placement of a request by its signed cookie (contract.md §7.7). Synchronous. A cookie that does not lead to a target that
// serves is replaced: the client gets one with its new placement.

import type { SignedPlacement } from '../upstream/session/opened-cookies.ts';
import { placementMark, type Targets } from '../upstream/session/placements.ts';
import type { SignedCookies, SignedLevel } from '../upstream/session/signed-cookies.ts';
import type { Sessions } from './sessions.ts';

/** Returns the target of the request; undefined where none serves. */
export function placeSigned<T>(
  cookies: SignedCookies,
  sessions: Sessions,
  level: SignedLevel,
  targets: Targets<T>,
): T | undefined {
  if (!cookies.isKeyed) {
    cookies.count('unkeyed');
    return targets.byHash();
  }
  const value = sessions.carried(level.name);
  const opened = value === '' ? 'new' : cookies.open(level.name, value);
  if (typeof opened === 'string') {
    cookies.count(opened);
    const target = opened === 'unsigned' ? targets.byHash() : targets.any();
    if (target !== undefined) placeOn(cookies, sessions, level, targets.nameOf(target));
    return target;
  }
  const found = cookies.placementIn(opened, level.scope);
  const known = typeof found === 'string' ? undefined : targets.marked(found.mark);
  if (known !== undefined && typeof found !== 'string') {
    cookies.count('kept');
    if (opened.isAged) sessions.place(cookies, level.name, found, opened.placements);
    return known;
  }
  cookies.count(typeof found === 'string' ? found : 'moved');
  const target = targets.any();
  if (target !== undefined) placeOn(cookies, sessions, level, targets.nameOf(target), opened.placements);
  return target;
}

/** Places the request on the target of that name. `others`: placements that its cookie carries. */
export function placeOn(
  cookies: SignedCookies,
  sessions: Sessions,
  level: SignedLevel,
  name: string,
  others: readonly SignedPlacement[] = [],
): void {
  const placement = { ...level.scope, mark: placementMark(name), endS: cookies.endOf(level) };
  sessions.place(cookies, level.name, placement, others);
}
