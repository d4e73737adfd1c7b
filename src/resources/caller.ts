// Callers and the rights of their roles (architecture.md §8). The authorizer of src/api puts the caller on the
// request; each operation names the right that it needs.

import { shownRights, type WhoAmI } from '../model/answers/who-am-i.ts';
import type { Role } from '../model/api-role.ts';

/** Holder of an API key, or the anonymous admin when no keys are configured. */
export interface Caller {
  /** Name of the API key; empty without keys. */
  readonly name: string;
  readonly role: Role;
}

/**
 * Right of a role. `read`: kinds, snapshots, debug, cluster. `write`: kinds, secrets, snapshots. `administer`: values of secrets,
 * members of the cluster, backup.
 * `identify`: the own name and role. `follow`: the stream of activations. `relay`: proves itself beyond the API key. `none`: documentation, open to all.
 */
export type Right = 'read' | 'write' | 'administer' | 'follow' | 'identify' | 'relay' | 'none';

const holders: Readonly<Record<Right, readonly Role[]>> = {
  read: ['viewer', 'editor', 'admin'],
  write: ['editor', 'admin'],
  administer: ['admin'],
  follow: ['admin', 'proxy'],
  identify: ['admin', 'editor', 'viewer', 'proxy'],
  relay: ['admin', 'editor', 'viewer', 'proxy'],
  none: ['admin', 'editor', 'viewer', 'proxy'],
};

/** Rights of a role that tell operations apart, for those that show what it may do. */
export const rightsOf = (role: Role): WhoAmI['may'] => shownRights.filter((right) => holds(role, right));

export const holds = (role: Role, right: Right): boolean => holders[right].includes(role);

/** Caller without configured keys: every client is an admin; the launcher warns about it (architecture.md §6.21). */
export const anonymousAdmin: Caller = { name: '', role: 'admin' };

/** Returns whether a caller may see resolved values and write references to the node's environment and files: an admin. */
export const seesSecrets = ({ role }: Caller): boolean => role === 'admin';
