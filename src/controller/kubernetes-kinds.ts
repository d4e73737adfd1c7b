// Fields of Kubernetes' own objects that the controller reads.
import type { KubernetesObject } from '../kubernetes/objects.ts';

export type Namespace = KubernetesObject;

export interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly appProtocol?: string;
  readonly targetPort?: number | string;
}

export interface Service extends KubernetesObject {
  readonly spec?: {
    readonly type?: string;
    readonly externalName?: string;
    readonly clusterIP?: string;
    readonly externalIPs?: readonly string[] | null;
    readonly ports?: readonly ServicePort[] | null;
  };
  readonly status?: {
    readonly loadBalancer?: {
      readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] | null;
    };
  };
}

export interface Secret extends KubernetesObject {
  readonly type?: string;
  /** Values in base64. */
  readonly data?: Readonly<Record<string, string>> | null;
}

export interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>> | null;
}

/** Returns a value of a secret as text. */
export function secretText(secret: Secret, key: string): string | undefined {
  const value = secret.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}
