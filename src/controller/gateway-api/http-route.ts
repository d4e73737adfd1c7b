// HTTPRoute of gateway.networking.k8s.io/v1, Gateway API v1.7.0. Written by scripts/gateway-api-types.mjs.
import type { KubernetesObject } from '../../kubernetes/objects.ts';

export interface HTTPRoute extends KubernetesObject {
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
    readonly rules: readonly {
      readonly backendRefs?: readonly {
        readonly filters?: readonly {
          readonly cors?: {
            readonly allowCredentials?: boolean;
            readonly allowHeaders?: readonly string[];
            readonly allowMethods?: readonly (
              | 'GET'
              | 'HEAD'
              | 'POST'
              | 'PUT'
              | 'DELETE'
              | 'CONNECT'
              | 'OPTIONS'
              | 'TRACE'
              | 'PATCH'
              | '*'
            )[];
            readonly allowOrigins?: readonly string[];
            readonly exposeHeaders?: readonly string[];
            readonly maxAge: number;
          };
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
          readonly requestRedirect?: {
            readonly hostname?: string;
            readonly path?: {
              readonly replaceFullPath?: string;
              readonly replacePrefixMatch?: string;
              readonly type: 'ReplaceFullPath' | 'ReplacePrefixMatch';
            };
            readonly port?: number;
            readonly scheme?: 'http' | 'https';
            readonly statusCode: '301' | '302' | '303' | '307' | '308';
          };
          readonly responseHeaderModifier?: {
            readonly add?: readonly { readonly name: string; readonly value: string }[];
            readonly remove?: readonly string[];
            readonly set?: readonly { readonly name: string; readonly value: string }[];
          };
          readonly type:
            | 'RequestHeaderModifier'
            | 'ResponseHeaderModifier'
            | 'RequestMirror'
            | 'RequestRedirect'
            | 'URLRewrite'
            | 'ExtensionRef'
            | 'CORS';
          readonly urlRewrite?: {
            readonly hostname?: string;
            readonly path?: {
              readonly replaceFullPath?: string;
              readonly replacePrefixMatch?: string;
              readonly type: 'ReplaceFullPath' | 'ReplacePrefixMatch';
            };
          };
        }[];
        readonly group: string;
        readonly kind: string;
        readonly name: string;
        readonly namespace?: string;
        readonly port?: number;
        readonly weight: number;
      }[];
      readonly filters?: readonly {
        readonly cors?: {
          readonly allowCredentials?: boolean;
          readonly allowHeaders?: readonly string[];
          readonly allowMethods?: readonly (
            | 'GET'
            | 'HEAD'
            | 'POST'
            | 'PUT'
            | 'DELETE'
            | 'CONNECT'
            | 'OPTIONS'
            | 'TRACE'
            | 'PATCH'
            | '*'
          )[];
          readonly allowOrigins?: readonly string[];
          readonly exposeHeaders?: readonly string[];
          readonly maxAge: number;
        };
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
        readonly requestRedirect?: {
          readonly hostname?: string;
          readonly path?: {
            readonly replaceFullPath?: string;
            readonly replacePrefixMatch?: string;
            readonly type: 'ReplaceFullPath' | 'ReplacePrefixMatch';
          };
          readonly port?: number;
          readonly scheme?: 'http' | 'https';
          readonly statusCode: '301' | '302' | '303' | '307' | '308';
        };
        readonly responseHeaderModifier?: {
          readonly add?: readonly { readonly name: string; readonly value: string }[];
          readonly remove?: readonly string[];
          readonly set?: readonly { readonly name: string; readonly value: string }[];
        };
        readonly type:
          | 'RequestHeaderModifier'
          | 'ResponseHeaderModifier'
          | 'RequestMirror'
          | 'RequestRedirect'
          | 'URLRewrite'
          | 'ExtensionRef'
          | 'CORS';
        readonly urlRewrite?: {
          readonly hostname?: string;
          readonly path?: {
            readonly replaceFullPath?: string;
            readonly replacePrefixMatch?: string;
            readonly type: 'ReplaceFullPath' | 'ReplacePrefixMatch';
          };
        };
      }[];
      readonly matches: readonly {
        readonly headers?: readonly {
          readonly name: string;
          readonly type: 'Exact' | 'RegularExpression';
          readonly value: string;
        }[];
        readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'CONNECT' | 'OPTIONS' | 'TRACE' | 'PATCH';
        readonly path: { readonly type: 'Exact' | 'PathPrefix' | 'RegularExpression'; readonly value: string };
        readonly queryParams?: readonly {
          readonly name: string;
          readonly type: 'Exact' | 'RegularExpression';
          readonly value: string;
        }[];
      }[];
      readonly name?: string;
      readonly retry?: { readonly attempts: number; readonly backoff?: string; readonly codes?: readonly number[] };
      readonly timeouts?: { readonly backendRequest?: string; readonly request?: string };
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
