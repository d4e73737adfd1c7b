// The kinds of resource, spelled as in the API's paths, the store's keys and the commands. What else is done for each
// kind follows from these lists.

/** Kinds that make up a configuration: captured by a snapshot, sent to proxies. The order is that of stored snapshots. */
export const configKinds = [
  'listeners',
  'destinations',
  'routes',
  'groups',
  'middlewares',
  'streamRoutes',
  'consumers',
] as const;

/** Kinds whose list is left out of a configuration where it is empty: earlier configurations have none. */
export const optionalKinds = ['streamRoutes', 'consumers'] as const satisfies readonly (typeof configKinds)[number][];

/** Kinds that an operator edits by POST and PUT. */
export const editableKinds = [...configKinds, 'secrets'] as const;

export const kinds = [...editableKinds, 'snapshots'] as const;

export type ConfigKind = (typeof configKinds)[number];
export type OptionalKind = (typeof optionalKinds)[number];
export type EditableKind = (typeof editableKinds)[number];
export type Kind = (typeof kinds)[number];

const first: readonly ConfigKind[] = ['listeners', 'routes', 'groups'];

/** The same kinds in the order in which JSON has them (contract.md §2.10). */
export const writtenKinds: readonly ConfigKind[] = [...first, ...configKinds.filter((kind) => !first.includes(kind))];

/** Returns whether the configuration has the list of that kind in its text and in its digest. */
export const isWritten = (kind: ConfigKind, list: { readonly length: number } | undefined): boolean =>
  !optionalKinds.some((each) => each === kind) || (list !== undefined && list.length > 0);

/** One value for each kind of a configuration, in the order of `configKinds`. */
export function perKind<T>(make: (kind: ConfigKind) => T): Record<ConfigKind, T> {
  return Object.fromEntries(configKinds.map((kind) => [kind, make(kind)])) as Record<ConfigKind, T>;
}

/** The word for one resource of the kind, for messages: `route "a" not found`. */
export const nounOf = (kind: Kind): string => kind.slice(0, -1);
