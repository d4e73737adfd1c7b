// GRPCRoute of gateway.networking.k8s.io/v1, Gateway API v1.7.0. Written by scripts/gateway-api-types.mjs.
import type { KubernetesObject } from '../../kubernetes/objects.ts';

export interface GRPCRoute extends KubernetesObject {
  readonly spec: {
    readonly hostnames?: readonly string[];
    readonly parentRefs?: readonly {
      readonly group: string;
      readonly kind: string;
      readonly name: string;
      readonly namespace?: string;
      readonly port?: number;
      readonly sectionName?: string;
    }[];
    readonly rules?: readonly {
      readonly backendRefs?: readonly {
        readonly filters?: readonly {
          readonly extensionRef?: { readonly group: string; readonly kind: string; readonly name: string };
          readonly requestHeaderModifier?: {
            readonly add?: readonly { readonly name: string; readonly value: string }[];
            readonly remove?: readonly string[];
            readonly set?: readonly { readonly name: string; readonly value: string }[];
          };
          readonly requestMirror?: {
            readonly backendRef: {
              readonly group: string;
              readonly kind: string;
              readonly name: string;
              readonly namespace?: string;
              readonly port?: number;
            };
            readonly fraction?: { readonly denominator: number; readonly numerator: number };
            readonly percent?: number;
          };
          readonly responseHeaderModifier?: {
            readonly add?: readonly { readonly name: string; readonly value: string }[];
            readonly remove?: readonly string[];
            readonly set?: readonly { readonly name: string; readonly value: string }[];
          };
          readonly type: 'ResponseHeaderModifier' | 'RequestHeaderModifier' | 'RequestMirror' | 'ExtensionRef';
        }[];
        readonly group: string;
        readonly kind: string;
        readonly name: string;
        readonly namespace?: string;
        readonly port?: number;
        readonly weight: number;
      }[];
      readonly filters?: readonly {
        readonly extensionRef?: { readonly group: string; readonly kind: string; readonly name: string };
        readonly requestHeaderModifier?: {
          readonly add?: readonly { readonly name: string; readonly value: string }[];
          readonly remove?: readonly string[];
          readonly set?: readonly { readonly name: string; readonly value: string }[];
        };
        readonly requestMirror?: {
          readonly backendRef: {
            readonly group: string;
            readonly kind: string;
            readonly name: string;
            readonly namespace?: string;
            readonly port?: number;
          };
          readonly fraction?: { readonly denominator: number; readonly numerator: number };
          readonly percent?: number;
        };
        readonly responseHeaderModifier?: {
          readonly add?: readonly { readonly name: string; readonly value: string }[];
          readonly remove?: readonly string[];
          readonly set?: readonly { readonly name: string; readonly value: string }[];
        };
        readonly type: 'ResponseHeaderModifier' | 'RequestHeaderModifier' | 'RequestMirror' | 'ExtensionRef';
      }[];
      readonly matches?: readonly {
        readonly headers?: readonly {
          readonly name: string;
          readonly type: 'Exact' | 'RegularExpression';
          readonly value: string;
        }[];
        readonly method?: {
          readonly method?: string;
          readonly service?: string;
          readonly type: 'Exact' | 'RegularExpression';
        };
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
