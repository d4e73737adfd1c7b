// TLSRoute of gateway.networking.k8s.io/v1, Gateway API v1.7.0. Written by scripts/gateway-api-types.mjs.
import type { KubernetesObject } from '../../kubernetes/objects.ts';

export interface TLSRoute extends KubernetesObject {
  readonly spec: {
    readonly hostnames: readonly string[];
    readonly parentRefs?: readonly {
      readonly group: string;
      readonly kind: string;
      readonly name: string;
      readonly namespace?: string;
      readonly port?: number;
      readonly sectionName?: string;
    }[];
    readonly rules: readonly {
      readonly backendRefs: readonly {
        readonly group: string;
        readonly kind: string;
        readonly name: string;
        readonly namespace?: string;
        readonly port?: number;
        readonly weight: number;
      }[];
      readonly name?: string;
    }[];
  };
  readonly status?: {
    readonly parents: readonly {
      readonly conditions: readonly {
        readonly lastTransitionTime: string;
        readonly message: string;
        readonly observedGeneration?: number;
        readonly reason: string;
        readonly status: 'True' | 'False' | 'Unknown';
        readonly type: string;
      }[];
      readonly controllerName: string;
      readonly parentRef: {
        readonly group: string;
        readonly kind: string;
        readonly name: string;
        readonly namespace?: string;
        readonly port?: number;
        readonly sectionName?: string;
      };
    }[];
  };
}
