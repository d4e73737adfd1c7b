// References between namespaces: allowed where a ReferenceGrant in the namespace of the target says so.
import type { ObjectStore } from './object-store.ts';

export interface ReferenceSource {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
}

export interface ReferenceTarget {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export function mayRefer(store: ObjectStore, from: ReferenceSource, to: ReferenceTarget): boolean {
  if (from.namespace === to.namespace) return true;
  return store
    .members('ReferenceGrant', `namespace:${to.namespace}`)
    .some(
      ({ spec }) =>
        spec.from.some(
          ({ group, kind, namespace }) => group === from.group && kind === from.kind && namespace === from.namespace,
        ) &&
        spec.to.some(
          ({ group, kind, name }) =>
            group === to.group && kind === to.kind && (name === undefined || name === '' || name === to.name),
        ),
    );
}
