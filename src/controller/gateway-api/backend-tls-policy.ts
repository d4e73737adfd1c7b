// BackendTLSPolicy of gateway.networking.k8s.io/v1, Gateway API v1.7.0. Written by scripts/gateway-api-types.mjs.
import type { KubernetesObject } from '../../kubernetes/objects.ts';

export interface BackendTLSPolicy extends KubernetesObject {
  readonly spec: {
    readonly options?: Readonly<Record<string, string>>;
    readonly targetRefs: readonly {
      readonly group: string;
      readonly kind: string;
      readonly name: string;
      readonly sectionName?: string;
    }[];
    readonly validation: {
      readonly caCertificateRefs?: readonly { readonly group: string; readonly kind: string; readonly name: string }[];
      readonly hostname: string;
      readonly subjectAltNames?: readonly {
        readonly hostname?: string;
        readonly type: 'Hostname' | 'URI';
        readonly uri?: string;
      }[];
      readonly wellKnownCACertificates?: string;
    };
  };
  readonly status?: {
    readonly ancestors: readonly {
      readonly ancestorRef: {
        readonly group: string;
        readonly kind: string;
        readonly name: string;
        readonly namespace?: string;
        readonly port?: number;
        readonly sectionName?: string;
      };
      readonly conditions: readonly {
        readonly lastTransitionTime: string;
        readonly message: string;
        readonly observedGeneration?: number;
        readonly reason: string;
        readonly status: 'True' | 'False' | 'Unknown';
        readonly type: string;
      }[];
      readonly controllerName: string;
    }[];
  };
}
