// Events on objects whose conditions turn, as `kubectl describe` shows them.
import type { KubernetesApi } from '../../kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../../kubernetes/objects.ts';
import { reasonOf } from '../../telemetry/error-reason.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Clock } from '../../util/clock.ts';
import { type Condition, stampOf } from '../graph/condition.ts';
import { type ResourceKindName, resourceKinds } from '../resource-kinds.ts';

export interface EventsTools {
  readonly api: Pick<KubernetesApi, 'create'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Name of this process. */
  readonly instance: string;
}

/** Conditions that are told: others follow from them. */
const told = new Set(['Accepted', 'ResolvedRefs', 'Programmed']);
/** States on the way to others. */
const passing = new Set(['Pending']);
/** Events a minute; more are left out. */
const perMinute = 300;
const minuteMs = 60_000;
const messageMax = 1_000;

/** Returns the conditions that say something else than before, within a status of any form. */
export function turnedConditions(before: unknown, after: unknown): Condition[] {
  const known = new Map(conditionsIn(before, '').map(([key, condition]) => [key, condition]));
  return conditionsIn(after, '').flatMap(([key, condition]) => {
    if (!told.has(condition.type) || passing.has(condition.reason)) return [];
    const old = known.get(key);
    const isNews = old === undefined ? condition.status === 'False' : old.status !== condition.status;
    return isNews ? [condition] : [];
  });
}

function conditionsIn(value: unknown, path: string): [string, Condition][] {
  if (Array.isArray(value)) return value.flatMap((each, at) => conditionsIn(each, `${path}/${nameOf(each) ?? at}`));
  if (typeof value !== 'object' || value === null) return [];
  if ('type' in value && 'status' in value && 'reason' in value) return [[path, value as Condition]];
  return Object.entries(value).flatMap(([key, each]) => conditionsIn(each, `${path}/${key}`));
}

const nameOf = (value: unknown): string | undefined => {
  const { name, type } = (value ?? {}) as { name?: unknown; type?: unknown };
  return typeof name === 'string' ? name : typeof type === 'string' ? type : undefined;
};

export class Events {
  readonly #tools: EventsTools;
  #count = 0;
  #minute = 0;

  constructor(tools: EventsTools) {
    this.#tools = tools;
  }

  tell(kind: ResourceKindName, { metadata }: KubernetesObject, conditions: readonly Condition[]): void {
    for (const { type, status, reason, message } of conditions) {
      if (!this.#mayTell()) return;
      const { clock, instance, logger } = this.#tools;
      const now = stampOf(clock.nowMs());
      const namespace = metadata.namespace ?? 'default';
      const event = {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { generateName: `${metadata.name.slice(0, 200)}.`, namespace },
        involvedObject: {
          apiVersion: resourceKinds[kind].api.replace(/^\/apis?\//, ''),
          kind,
          name: metadata.name,
          ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
          uid: metadata.uid,
          resourceVersion: metadata.resourceVersion,
        },
        type: status === 'True' ? 'Normal' : 'Warning',
        reason,
        message: `${type}: ${message === '' ? status : message}`.slice(0, messageMax),
        source: { component: 'sluice-controller', host: instance },
        reportingComponent: 'sluice-controller',
        reportingInstance: instance,
        firstTimestamp: now,
        lastTimestamp: now,
        count: 1,
      };
      void this.#tools.api
        .create(`/api/v1/namespaces/${encodeURIComponent(namespace)}/events`, event)
        .catch((error) => {
          logger.debug({ reason: reasonOf(error) }, 'an event cannot be written');
        });
    }
  }

  #mayTell(): boolean {
    const minute = Math.floor(this.#tools.clock.monotonicMs() / minuteMs);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#count = 0;
    }
    return ++this.#count <= perMinute;
  }
}
