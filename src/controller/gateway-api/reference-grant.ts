// ReferenceGrant of gateway.networking.k8s.io/v1beta1, Gateway API v1.7.0. Written by scripts/gateway-api-types.mjs.
import type { KubernetesObject } from '../../kubernetes/objects.ts';

export interface ReferenceGrant extends KubernetesObject {
  readonly spec: {
    readonly from: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[];
    readonly to: readonly { readonly group: string; readonly kind: string; readonly name?: string }[];
  };
}
