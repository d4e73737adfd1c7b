// The seven kinds of resource, spelled as in the API's paths, the store's keys and the commands.

/** Kinds that make up a configuration: captured by a snapshot, sent to proxies. */
export const configKinds = ['listeners', 'destinations', 'routes', 'groups', 'middlewares'] as const;

/** Kinds that an operator edits by POST and PUT. */
export const editableKinds = [...configKinds, 'secrets'] as const;

export const kinds = [...editableKinds, 'snapshots'] as const;

export type ConfigKind = (typeof configKinds)[number];
export type EditableKind = (typeof editableKinds)[number];
export type Kind = (typeof kinds)[number];

const singular: Record<Kind, string> = {
  listeners: 'listener',
  destinations: 'destination',
  routes: 'route',
  groups: 'group',
  middlewares: 'middleware',
  secrets: 'secret',
  snapshots: 'snapshot',
};

/** The word for one resource of the kind, for messages: `route "a" not found`. */
export const nounOf = (kind: Kind): string => singular[kind];
