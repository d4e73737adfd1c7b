// Shape that all objects of the Kubernetes API share, and that of EndpointSlices.

interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    /** Counts changes of the specification; status and metadata leave it as it is. */
    readonly generation?: number;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly OwnerReference[];
  };
}

/** Endpoints of a Service (discovery.k8s.io/v1). */
export interface EndpointSlice extends KubernetesObject {
  readonly endpoints?:
    | readonly {
        readonly addresses: readonly string[] | null;
        readonly conditions?: { readonly ready?: boolean | null };
      }[]
    | null;
  readonly ports?: readonly { readonly name?: string | null; readonly port?: number | null }[] | null;
}

/** Key of an object within its kind: `namespace/name`, or the name alone where the kind has no namespaces. */
export const keyOf = ({ metadata: { namespace, name } }: KubernetesObject): string => keyFor(namespace, name);

export const keyFor = (namespace: string | undefined, name: string): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;

/** Annotation that kubectl keeps a whole copy of the object in. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Returns an object without the records of its writers, which can be more than the rest and are never read. */
export function withoutRecords<T extends KubernetesObject>(object: T): T {
  const { managedFields: _, annotations, ...metadata } = object.metadata as T['metadata'] & { managedFields?: unknown };
  const kept = annotations && Object.fromEntries(Object.entries(annotations).filter(([key]) => key !== lastApplied));
  return { ...object, metadata: { ...metadata, ...(kept !== undefined && { annotations: kept }) } };
}
