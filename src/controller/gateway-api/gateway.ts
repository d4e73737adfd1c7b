// Gateway of gateway.networking.k8s.io/v1, Gateway API v1.7.0. Written by scripts/gateway-api-types.mjs.
import type { KubernetesObject } from '../../kubernetes/objects.ts';

export interface Gateway extends KubernetesObject {
  readonly spec: {
    readonly addresses?: readonly { readonly type: string; readonly value?: string }[];
    readonly allowedListeners?: {
      readonly namespaces: {
        readonly from: 'All' | 'Selector' | 'Same' | 'None';
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
    readonly gatewayClassName: string;
    readonly infrastructure?: {
      readonly annotations?: Readonly<Record<string, string>>;
      readonly labels?: Readonly<Record<string, string>>;
      readonly parametersRef?: { readonly group: string; readonly kind: string; readonly name: string };
    };
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
    readonly tls?: {
      readonly backend?: {
        readonly clientCertificateRef?: {
          readonly group: string;
          readonly kind: string;
          readonly name: string;
          readonly namespace?: string;
        };
      };
      readonly frontend?: {
        readonly default: {
          readonly validation?: {
            readonly caCertificateRefs: readonly {
              readonly group: string;
              readonly kind: string;
              readonly name: string;
              readonly namespace?: string;
            }[];
            readonly mode: 'AllowValidOnly' | 'AllowInsecureFallback';
          };
        };
        readonly perPort?: readonly {
          readonly port: number;
          readonly tls: {
            readonly validation?: {
              readonly caCertificateRefs: readonly {
                readonly group: string;
                readonly kind: string;
                readonly name: string;
                readonly namespace?: string;
              }[];
              readonly mode: 'AllowValidOnly' | 'AllowInsecureFallback';
            };
          };
        }[];
      };
    };
  };
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly value: string }[];
    readonly attachedListenerSets?: number;
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
