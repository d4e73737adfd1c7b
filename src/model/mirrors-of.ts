// Mirrors of a forward, in either form. A file of its own because the proxy must not load the decorated classes.
import type { Forward } from './forward.ts';
import type { Mirror } from './mirror.ts';

const none: readonly Mirror[] = [];

/** Returns the mirrors of either form. */
export const mirrorsOf = ({ mirror, mirrors = none }: Forward): readonly Mirror[] =>
  mirror === undefined ? mirrors : [mirror, ...mirrors];
