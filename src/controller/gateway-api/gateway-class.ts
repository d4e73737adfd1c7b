// GatewayClass of gateway.networking.k8s.io/v1, Gateway API v1.7.0. Written by scripts/gateway-api-types.mjs.
import type { KubernetesObject } from '../../kubernetes/objects.ts';

export interface GatewayClass extends KubernetesObject {
  readonly spec: {
    readonly controllerName: string;
    readonly description?: string;
    readonly parametersRef?: {
      readonly group: string;
      readonly kind: string;
      readonly name: string;
      readonly namespace?: string;
    };
  };
  readonly status?: {
    readonly conditions: readonly {
      readonly lastTransitionTime: string;
      readonly message: string;
      readonly observedGeneration?: number;
      readonly reason: string;
      readonly status: 'True' | 'False' | 'Unknown';
      readonly type: string;
    }[];
    readonly supportedFeatures?: readonly { readonly name: string }[];
  };
}
