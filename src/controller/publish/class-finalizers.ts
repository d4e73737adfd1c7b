// Finalizer of GatewayClasses that Gateways use: a class does not go before them.
import { type KubernetesApi, RefusedError } from '../../kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../../kubernetes/objects.ts';
import { reasonOf } from '../../telemetry/error-reason.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { objectPath } from '../resource-kinds.ts';

/** Name that the Gateway API gives to it. */
const finalizer = 'gateway-exists-finalizer.gateway.networking.k8s.io';

export interface ClassFinalizersTools {
  readonly api: Pick<KubernetesApi, 'merge'>;
  readonly logger: Logger;
  /** Returns the classes of this controller, and whether a Gateway uses them. */
  readonly classes: () => Iterable<{ readonly object: KubernetesObject; readonly isUsed: boolean }>;
}

const conflict = 409;
const notFound = 404;

export class ClassFinalizers {
  readonly #tools: ClassFinalizersTools;
  readonly #running = new Set<string>();

  constructor(tools: ClassFinalizersTools) {
    this.#tools = tools;
  }

  /** Adds and removes what is to be. A refused change is made with the next event of the object. */
  check(): void {
    for (const { object, isUsed } of this.#tools.classes()) {
      const { name, finalizers = [], resourceVersion, deletionTimestamp } = object.metadata;
      if (finalizers.includes(finalizer) === isUsed || this.#running.has(name)) continue;
      // An object that is being deleted takes no new finalizer.
      if (isUsed && deletionTimestamp !== undefined) continue;
      const wanted = isUsed ? [...finalizers, finalizer] : finalizers.filter((each) => each !== finalizer);
      this.#running.add(name);
      void this.#write(name, { metadata: { finalizers: wanted, resourceVersion } });
    }
  }

  async #write(name: string, change: object): Promise<void> {
    try {
      await this.#tools.api.merge(objectPath('GatewayClass', undefined, name), change);
    } catch (error) {
      const status = error instanceof RefusedError ? error.status : undefined;
      if (status !== conflict && status !== notFound)
        this.#tools.logger.warn({ class: name, reason: reasonOf(error) }, 'the finalizer of a class cannot be written');
    } finally {
      this.#running.delete(name);
    }
  }
}
