// The controller: follows the objects of the cluster, writes what they mean to Sluice, and tells it in statuses.
import type { KubernetesApi } from '../kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../kubernetes/objects.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import { ClusterModel, type ClusterModelOptions } from './cluster-model.ts';
import { Publisher } from './publish/publisher.ts';
import type { SluiceApi } from './publish/sluice-api.ts';
import type { ResourceKindName } from './resource-kinds.ts';
import { StatusChanges } from './status/status-changes.ts';
import { StatusWriter } from './status/status-writer.ts';

export interface ControllerOptions extends ClusterModelOptions {
  /** Owner of the entities in Sluice. */
  readonly owner: string;
}

export interface ControllerTools {
  readonly kubernetes: KubernetesApi;
  readonly sluice: SluiceApi;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Time in which changes are gathered. */
const gatherMs = 10;
/** Longest work without a pause for watches and probes. */
const sliceMs = 20;

export class Controller {
  readonly model: ClusterModel;
  readonly publisher: Publisher;
  readonly #statuses: StatusWriter;
  readonly #clock: Clock;
  readonly #isReady: () => boolean;
  #gathering: Cancel | undefined;
  #isLeading = false;

  /** @param isReady returns whether every watch has listed: before that nothing is written */
  constructor(options: ControllerOptions, tools: ControllerTools, isReady: () => boolean) {
    this.#clock = tools.clock;
    this.#isReady = isReady;
    this.model = new ClusterModel(options, {
      onStatus: (kind, key) => this.#statuses.note(kind, key),
      onEntities: (holder, keys) => this.publisher.changed(holder, keys),
      onGone: (holder) => this.publisher.forget(holder),
    });
    this.publisher = new Publisher({
      api: tools.sluice,
      entities: this.model.entities,
      clock: tools.clock,
      logger: tools.logger,
      owner: options.owner,
      onProgress: () => this.#noteStatuses(),
    });
    const changes = new StatusChanges({ model: this.model, publisher: this.publisher, clock: tools.clock });
    this.#statuses = new StatusWriter({
      api: tools.kubernetes,
      clock: tools.clock,
      logger: tools.logger,
      fieldManager: 'sluice-controller',
      changeOf: (task) => changes.of(task),
    });
  }

  /** Takes in a change of an object, as its watch tells it. */
  take(kind: ResourceKindName, key: string, object: KubernetesObject | undefined): void {
    this.model.take(kind, key, object);
    this.gather();
  }

  /** From now on this process writes. */
  lead(): void {
    this.#isLeading = true;
    this.#noteStatuses();
    this.gather();
  }

  /** From now on another process writes. */
  follow(): void {
    this.#isLeading = false;
    this.publisher.stop();
    this.#statuses.stop();
  }

  close(): void {
    this.follow();
    this.#gathering?.();
  }

  /** Works off what has changed, soon. */
  gather(): void {
    this.#gathering ??= this.#clock.after(gatherMs, () => {
      this.#gathering = undefined;
      this.#settle();
    });
  }

  #settle(): void {
    if (!this.#isReady()) return;
    const startedAt = this.#clock.monotonicMs();
    const isDone = this.model.settle(() => this.#clock.monotonicMs() - startedAt > sliceMs);
    // What was computed may refer to something that has not been listed yet.
    if (!isDone) this.gather();
    else if (this.#isReady() && this.#isLeading) {
      this.publisher.start();
      this.#statuses.start();
    }
  }

  #noteStatuses(): void {
    for (const [kind, key] of this.model.followingProxies()) this.#statuses.note(kind, key);
    this.#statuses.kick();
  }
}
