// Watches of the cluster: one for each kind, and one for each Secret and ConfigMap that something refers to. Nothing is
// known before all of them have listed; a watch that is lost later leaves what is known as it is.
import type { KubernetesObject } from '../kubernetes/objects.ts';
import { type Loss, Reflector, type ReflectorTools } from '../kubernetes/reflector.ts';
import { withSharedParts } from '../kubernetes/shared-fields.ts';
import type { Cancel } from '../util/clock.ts';
import type { ObjectStore, ReferencedKind } from './graph/object-store.ts';
import { collectionPath, isOptional, kindNames, type ResourceKindName, resourceKinds } from './resource-kinds.ts';

export interface ClusterWatchesOptions {
  readonly endpoints: 'proxy' | 'controller';
  readonly onObject: (kind: ResourceKindName, key: string, object: KubernetesObject | undefined) => void;
  /** Called when a watch has listed. */
  readonly onListed: () => void;
}

interface Watched {
  readonly reflector: Reflector;
  isKnown: boolean;
  loss: Loss | undefined;
}

/** Answer for a kind whose CRD is not installed. */
const notFound = 404;
const forbidden = 403;
/** Time between looks for Secrets and ConfigMaps that nothing refers to any more. */
const sweepMs = 60_000;

export class ClusterWatches {
  readonly #tools: ReflectorTools;
  readonly #store: ObjectStore;
  readonly #options: ClusterWatchesOptions;
  readonly #kinds = new Map<ResourceKindName, Watched>();
  readonly #references = new Map<string, Watched>();
  #sweep: Cancel = () => {};

  constructor(store: ObjectStore, tools: ReflectorTools, options: ClusterWatchesOptions) {
    this.#store = store;
    this.#tools = tools;
    this.#options = options;
    store.onReference = (kind, key) => this.#refer(kind, key);
    for (const kind of kindNames) {
      if (kind === 'Secret' || kind === 'ConfigMap') continue;
      if (kind === 'EndpointSlice' && options.endpoints === 'proxy') continue;
      this.#kinds.set(kind, this.#watch(kind, collectionPath(kind), isOptional(kind) ? [notFound] : []));
    }
    this.#armSweep();
  }

  /** True once everything has been listed, what is referred to included. */
  get isReady(): boolean {
    return [...this.#kinds.values(), ...this.#references.values()].every(({ isKnown }) => isKnown);
  }

  /** Returns the watches that are not there now, each with the reason. */
  losses(): { readonly kind: string; readonly reason: string }[] {
    return [...this.#kinds].flatMap(([kind, { loss, isKnown }]) => {
      if (loss === undefined || (isOptional(kind) && loss.status === notFound && isKnown)) return [];
      return [{ kind, reason: loss.reason }];
    });
  }

  close(): void {
    this.#sweep();
    for (const { reflector } of [...this.#kinds.values(), ...this.#references.values()]) reflector.close();
  }

  /** @param missing statuses that say that there are no objects */
  #watch(kind: ResourceKindName, path: string, missing: readonly number[]): Watched {
    const { onObject, onListed } = this.#options;
    const reflector = new Reflector(path, this.#tools, {
      keep: withSharedParts,
      onChange: (key, _before, after) => onObject(kind, key, after),
      onRound: () => {
        if (watched.isKnown) return;
        watched.isKnown = true;
        onListed();
      },
      onLoss: (loss) => {
        watched.loss = loss;
        if (loss?.status === undefined || !missing.includes(loss.status) || watched.isKnown) return;
        watched.isKnown = true;
        onListed();
      },
    });
    const watched: Watched = { reflector, isKnown: false, loss: undefined };
    return watched;
  }

  #refer(kind: ReferencedKind, key: string): void {
    const id = `${kind}:${key}`;
    if (this.#references.has(id)) return;
    const [namespace = '', name = ''] = key.split('/');
    const { api, plural } = resourceKinds[kind];
    const selector = encodeURIComponent(`metadata.name=${name}`);
    const path = `${api}/namespaces/${encodeURIComponent(namespace)}/${plural}?fieldSelector=${selector}`;
    this.#references.set(id, this.#watch(kind, path, [notFound, forbidden]));
  }

  #armSweep(): void {
    this.#sweep = this.#tools.clock.after(sweepMs, () => {
      for (const [id, { reflector }] of this.#references) {
        const [kind, key] = id.split(':') as [ReferencedKind, string];
        if (this.#store.isRead(kind, key)) continue;
        reflector.close();
        this.#references.delete(id);
        this.#options.onObject(kind, key, undefined);
      }
      this.#armSweep();
    });
  }
}
