// Policies of Sluice's own, for what the Gateway API has no words for (group sluice.dev).
import type { KubernetesObject } from '../../kubernetes/objects.ts';

export const policyGroup = 'sluice.dev';

/** A middleware that routes name in filters of type ExtensionRef: one block, named by its type, as in the REST API. */
export interface MiddlewarePolicy extends KubernetesObject {
  readonly spec: Readonly<Record<string, unknown>>;
  /** One entry for each Gateway whose routes have it. */
  readonly status?: { readonly ancestors: readonly object[] };
}

/** Options of the destinations that Services become. */
export interface UpstreamPolicy extends KubernetesObject {
  readonly spec: {
    readonly targetRefs: readonly {
      readonly group?: string;
      readonly kind?: string;
      readonly name: string;
      /** Name of a port of the Service; absent: all ports. */
      readonly sectionName?: string;
    }[];
    readonly options: Readonly<Record<string, unknown>>;
  };
  /** One entry for each Gateway whose routes lead to a target. */
  readonly status?: { readonly ancestors: readonly object[] };
}
