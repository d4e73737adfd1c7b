// ListenerSet of gateway.networking.k8s.io/v1, Gateway API v1.7.0. Written by scripts/gateway-api-types.mjs.
import type { KubernetesObject } from '../../kubernetes/objects.ts';

export interface ListenerSet extends KubernetesObject {
  readonly spec: {
    readonly listeners: readonly {
      readonly allowedRoutes: {
        readonly kinds?: readonly { readonly group: string; readonly kind: string }[];
        readonly namespaces: {
          readonly from: 'All' | 'Selector' | 'Same';
          readonly selector?: {
            readonly matchExpressions?: readonly {
              readonly key: string;
              readonly operator: string;
              readonly values?: readonly string[];
            }[];
            readonly matchLabels?: Readonly<Record<string, string>>;
          };
        };
      };
      readonly hostname?: string;
      readonly name: string;
      readonly port: number;
      readonly protocol: string;
      readonly tls?: {
        readonly certificateRefs?: readonly {
          readonly group: string;
          readonly kind: string;
          readonly name: string;
          readonly namespace?: string;
        }[];
        readonly mode: 'Terminate' | 'Passthrough';
        readonly options?: Readonly<Record<string, string>>;
      };
    }[];
    readonly parentRef: {
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
    readonly listeners?: readonly {
      readonly attachedRoutes: number;
      readonly conditions: readonly {
        readonly lastTransitionTime: string;
        readonly message: string;
        readonly observedGeneration?: number;
        readonly reason: string;
        readonly status: 'True' | 'False' | 'Unknown';
        readonly type: string;
      }[];
      readonly name: string;
      readonly supportedKinds?: readonly { readonly group: string; readonly kind: string }[];
    }[];
  };
}
