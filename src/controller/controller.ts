// The controller: follows the objects of the cluster, writes what they mean to Sluice, and tells it in statuses.
import type { KubernetesApi } from '../kubernetes/kubernetes-api.ts';
import { type KubernetesObject, keyFor, keyOf } from '../kubernetes/objects.ts';
import { reasonOf } from '../telemetry/error-reason.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import { ClusterModel, type ClusterModelOptions } from './cluster-model.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { gatewayCell } from './graph/controller-graph.ts';
import type { GatewayFacts } from './graph/facts.ts';
import { ClassFinalizers } from './publish/class-finalizers.ts';
import { GatewayServices } from './publish/gateway-services.ts';
import { Publisher } from './publish/publisher.ts';
import { type GatewayRollout, rolloutText, rolloutWish } from './publish/rollout-annotation.ts';
import type { SluiceApi } from './publish/sluice-api.ts';
import type { ResourceKindName } from './resource-kinds.ts';
import { Events } from './status/events.ts';
import { StatusChanges } from './status/status-changes.ts';
import { StatusWriter } from './status/status-writer.ts';

export interface ControllerTools {
  readonly kubernetes: KubernetesApi;
  readonly sluice: SluiceApi;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Name of this process. */
  readonly instance: string;
  readonly metrics?: ControllerMetrics | undefined;
}

/** Time in which changes are gathered. */
const gatherMs = 10;
const fieldManager = 'sluice-controller';
/** Longest work without a pause for watches and probes. */
const sliceMs = 20;

export class Controller {
  readonly model: ClusterModel;
  readonly publisher: Publisher;
  readonly #statuses: StatusWriter;
  readonly #clock: Clock;
  readonly #isReady: () => boolean;
  #gathering: Cancel | undefined;
  readonly #services: GatewayServices;
  readonly #finalizers: ClassFinalizers;
  readonly #metrics: ControllerMetrics | undefined;
  /** Number of the leadership of this process; undefined: another one writes. */
  #term: number | undefined;

  /** @param isReady returns whether every watch has listed: before that nothing is written */
  constructor(options: ClusterModelOptions, tools: ControllerTools, isReady: () => boolean) {
    this.#clock = tools.clock;
    this.#isReady = isReady;
    this.model = new ClusterModel(options, {
      onStatus: (kind, key) => {
        this.#statuses.note(kind, key);
        if (kind === 'Gateway') this.#services.note(key);
      },
      onEntities: (holder, keys) => this.publisher.changed(holder, keys),
      onGone: (holder) => this.publisher.forget(holder),
      onUnreadable: (kind, key, error) =>
        tools.logger.error({ kind, key, reason: reasonOf(error) }, 'an object cannot be read: it is served as it was'),
    });
    this.publisher = new Publisher({
      api: tools.sluice,
      entities: this.model.entities,
      clock: tools.clock,
      logger: tools.logger,
      owner: options.owner,
      instance: tools.instance,
      onProgress: () => this.#noteStatuses(),
      onRefused: ({ key, holders, text, isLive }) => {
        // A rule whose middleware Sluice has no version of serves nothing.
        if (text === undefined || !isLive) this.model.graph.refuse(key, text);
        for (const holder of holders) this.model.noteStatus(holder);
        this.gather();
        for (const policy of ['Middleware', 'UpstreamPolicy'] as const)
          for (const object of this.model.graph.store.all(policy)) this.#statuses.note(policy, keyOf(object));
      },
      rolloutOf: (holder) => this.#rolloutOf(holder),
      onBatch: (outcome, operations, ms) => tools.metrics?.batch(outcome, operations, ms),
    });
    const changes = new StatusChanges({ model: this.model, publisher: this.publisher, clock: tools.clock });
    this.#statuses = new StatusWriter({
      api: tools.kubernetes,
      clock: tools.clock,
      logger: tools.logger,
      fieldManager,
      changeOf: (task) => changes.of(task),
      events: new Events({ api: tools.kubernetes, clock: tools.clock, logger: tools.logger, instance: tools.instance }),
      onWrite: (kind, outcome) => tools.metrics?.statusWrite(kind, outcome),
    });
    this.#services = new GatewayServices({
      api: tools.kubernetes,
      clock: tools.clock,
      logger: tools.logger,
      fieldManager,
      gatewayOf: (key) => {
        const object = this.model.graph.store.present('Gateway', key);
        const facts = this.model.factsOf(gatewayCell(key)) as GatewayFacts | undefined;
        return object === undefined || facts === undefined ? undefined : { object, facts };
      },
    });
    this.#finalizers = new ClassFinalizers({
      api: tools.kubernetes,
      logger: tools.logger,
      classes: () => this.model.ownClasses(),
    });
    this.#metrics = tools.metrics;
  }

  /** Takes in a change of an object, as its watch tells it. */
  take(kind: ResourceKindName, key: string, object: KubernetesObject | undefined): void {
    if (kind === 'Service' && object === undefined) this.#noteLostService(key);
    // Another way to become active is another chance.
    const isOtherWay =
      kind === 'Gateway' && rolloutText(object) !== rolloutText(this.model.graph.store.present(kind, key));
    if (isOtherWay) this.publisher.retryRefused();
    this.model.take(kind, key, object);
    this.gather();
  }

  /** From now on this process writes. */
  lead(term: number): void {
    this.#term = term;
    this.#noteStatuses();
    this.gather();
  }

  /** From now on another process writes. */
  follow(): void {
    this.#term = undefined;
    this.publisher.stop();
    this.#statuses.stop();
    this.#services.stop();
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
    // The result may refer to something that has not been listed yet.
    this.#metrics?.settled(this.#clock.monotonicMs() - startedAt);
    if (!isDone) this.gather();
    else if (this.#isReady() && this.#term !== undefined) {
      this.publisher.start(this.#term);
      this.#statuses.start();
      this.#services.start();
      this.#finalizers.check();
    }
  }

  /** Returns the rollout that a Gateway asks for, of its own changes and those of its routes. */
  #rolloutOf(holder: string): GatewayRollout | undefined {
    const facts = this.model.factsOf(holder);
    if (facts === undefined) return undefined;
    const keys = 'sets' in facts ? [facts.key] : 'gateways' in facts ? facts.gateways : [];
    for (const key of keys) {
      const gateway = this.model.graph.store.present('Gateway', key);
      const wish = gateway && rolloutWish(gateway);
      if (wish !== undefined) return { ...wish, gateway: gatewayCell(key) };
    }
    return undefined;
  }

  /** Has the Service of a Gateway made anew that was deleted. */
  #noteLostService(key: string): void {
    const service = this.model.graph.store.present('Service', key);
    for (const { kind, name } of service?.metadata.ownerReferences ?? [])
      if (kind === 'Gateway') this.#services.lost(keyFor(service?.metadata.namespace, name));
  }

  #noteStatuses(): void {
    for (const [kind, key] of this.model.followingProxies()) this.#statuses.note(kind, key);
    this.#statuses.kick();
  }
}
