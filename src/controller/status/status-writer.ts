// Writes statuses that are not what they are to be, a few at a time. What is stored already is not written again, so that
// the own writes cause no work.
import { isDeepStrictEqual } from 'node:util';
import { type KubernetesApi, RefusedError } from '../../kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../../kubernetes/objects.ts';
import { reasonOf } from '../../telemetry/error-reason.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import type { Condition } from '../graph/condition.ts';
import { objectPath, type ResourceKindName, resourceKinds } from '../resource-kinds.ts';
import type { Events } from './events.ts';

export interface StatusTask {
  readonly kind: ResourceKindName;
  readonly key: string;
}

export interface StatusChange {
  /** `apply`: fields of the own manager; `merge`: lists that are replaced, at the version that they were read at. */
  readonly by: 'apply' | 'merge';
  readonly status: object;
  readonly metadata?: object;
  readonly object: KubernetesObject;
  /** Conditions that say something else than before. */
  readonly turned: readonly Condition[];
}

export interface StatusWriterTools {
  readonly api: KubernetesApi;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Owner of the fields in server-side apply. */
  readonly fieldManager: string;
  /** Returns what is to be written for an object; undefined: nothing. */
  readonly changeOf: (task: StatusTask) => StatusChange | undefined;
  readonly events?: Events;
  /** Called after each write; `refused` is the status of the API. */
  readonly onWrite?: (kind: ResourceKindName, outcome: 'written' | 'conflict' | 'failed') => void;
}

const first: ReadonlySet<ResourceKindName> = new Set(['GatewayClass', 'Gateway', 'ListenerSet']);

const atOnce = 8;
const retryMs = 1_000;

export class StatusWriter {
  readonly #tools: StatusWriterTools;
  /** Gateways and what belongs to them come before the routes, of which there may be thousands. */
  readonly #queues = [new Map<string, StatusTask>(), new Map<string, StatusTask>()] as const;
  readonly #running = new Set<string>();
  readonly #retries = new Set<Cancel>();
  #isActive = false;

  constructor(tools: StatusWriterTools) {
    this.#tools = tools;
  }

  start(): void {
    this.#isActive = true;
    this.#pump();
  }

  stop(): void {
    this.#isActive = false;
    for (const cancel of this.#retries) cancel();
    this.#retries.clear();
  }

  /** Notes that the status of an object may be different from what it is to be. */
  note(kind: ResourceKindName, key: string): void {
    this.#queues[first.has(kind) ? 0 : 1].set(`${kind}:${key}`, { kind, key });
  }

  kick(): void {
    this.#pump();
  }

  #pump(): void {
    if (!this.#isActive) return;
    for (const queue of this.#queues) {
      for (const [id, task] of queue) {
        if (this.#running.size >= atOnce) return;
        if (!this.#running.has(id)) this.#begin(queue, id, task);
      }
    }
  }

  #begin(queue: Map<string, StatusTask>, id: string, task: StatusTask): void {
    queue.delete(id);
    const change = this.#tools.changeOf(task);
    if (change === undefined) return;
    this.#running.add(id);
    void this.#write(task, change).finally(() => {
      this.#running.delete(id);
      this.#pump();
    });
  }

  async #write(task: StatusTask, change: StatusChange): Promise<void> {
    const { api, fieldManager, logger, onWrite } = this.#tools;
    const { kind, key } = task;
    const slash = key.indexOf('/');
    const name = key.slice(slash + 1);
    const namespace = slash < 0 ? undefined : key.slice(0, slash);
    const path = `${objectPath(kind, namespace, name)}/status`;
    try {
      if (change.by === 'merge') await api.merge(path, { metadata: change.metadata, status: change.status });
      else {
        const apiVersion = resourceKinds[kind].api.replace(/^\/apis?\//, '');
        const metadata = { name, ...(namespace !== undefined && { namespace }) };
        await api.apply(path, { apiVersion, kind, metadata, status: change.status }, { fieldManager, force: true });
      }
      onWrite?.(kind, 'written');
      this.#tools.events?.tell(kind, change.object, change.turned);
    } catch (error) {
      const status = error instanceof RefusedError ? error.status : undefined;
      if (status === 404) return;
      onWrite?.(kind, status === 409 ? 'conflict' : 'failed');
      if (status !== 409)
        logger.warn({ kind, key, reason: reasonOf(error) }, 'a status cannot be written: it is tried again');
      this.#again(task, status === 409 ? retryMs / 10 : retryMs);
    }
  }

  #again(task: StatusTask, delayMs: number): void {
    const cancel = this.#tools.clock.after(delayMs, () => {
      this.#retries.delete(cancel);
      this.note(task.kind, task.key);
      this.#pump();
    });
    this.#retries.add(cancel);
  }
}

/** Returns whether a stored status has everything that is wanted; further fields and conditions are of others. */
export function hasAll(stored: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(stored)) return wanted.length === 0 && stored === undefined;
    const key = keyOfList(wanted);
    if (key === undefined) return isDeepStrictEqual(stored, wanted);
    return wanted.every((each) => {
      const name = (each as Record<string, unknown>)[key];
      return hasAll(
        stored.find((other) => (other as Record<string, unknown>)[key] === name),
        each,
      );
    });
  }
  if (typeof wanted !== 'object' || wanted === null) return stored === wanted;
  if (typeof stored !== 'object' || stored === null) return false;
  return Object.entries(wanted).every(([name, value]) => hasAll((stored as Record<string, unknown>)[name], value));
}

/** Field that tells the items of a list apart: conditions by their type, listeners by their name. */
function keyOfList(list: readonly unknown[]): 'type' | 'name' | undefined {
  const [first] = list as readonly Record<string, unknown>[];
  if (first === undefined || typeof first !== 'object') return undefined;
  if ('type' in first && 'status' in first) return 'type';
  return 'conditions' in first && 'name' in first ? 'name' : undefined;
}
