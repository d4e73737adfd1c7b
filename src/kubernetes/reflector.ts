// The present state of one collection: listed once, then followed event by event from the version of the list. A watch
// that ends or breaks goes on where it was. One that cannot be opened begins with a list again: the version may be one that
// the API does not know any more (410), and an API that was away may have been restored from a backup. It counts anew from
// an earlier version then, and answers a watch from a later one with silence.

import { reasonOf } from '../telemetry/error-reason.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import { type KubernetesApi, RefusedError } from './kubernetes-api.ts';
import { type KubernetesObject, keyOf } from './objects.ts';

export interface ReflectorTools {
  readonly api: Pick<KubernetesApi, 'list' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
}

/**
 * Called for each object of a list and each event: `key` of the object, what it was and what it is, undefined where there
 * is none. Versions are no proof of sameness: after a restore from a backup the API gives them out anew.
 */
type OnChange = (key: string, before: KubernetesObject | undefined, after: KubernetesObject | undefined) => void;

export interface Loss {
  readonly reason: string;
  /** Status of an answer that refuses; undefined: there was none. */
  readonly status: number | undefined;
}

export interface ReflectorOptions {
  /** Returns what is kept of an object. Default: all of it. */
  readonly keep?: (before: KubernetesObject | undefined, after: KubernetesObject) => KubernetesObject;
  readonly onChange?: OnChange;
  /** Called after each list and each event. */
  readonly onRound?: () => void;
  /** Called with each failure, and with undefined when the collection is watched again. */
  readonly onLoss?: (loss: Loss | undefined) => void;
}

/** History from that version on is compacted, as happens in every cluster: no loss. */
const gone = 410;
/** Lists cost the API more than watches do. */
const tooManyRequests = 429;
const backoffMsMin = 200;
const backoffMsMax = 15_000;
/** The server ends a watch after a time between this and twice this. */
const watchSecondsMin = 240;

export class Reflector {
  /** By `namespace/name`. Kept while the API cannot be reached. */
  readonly objects = new Map<string, KubernetesObject>();
  /** True once the objects have been listed. */
  known = false;
  readonly #path: string;
  readonly #tools: ReflectorTools;
  readonly #options: ReflectorOptions;
  readonly #over = new AbortController();
  #version = '';
  /** True when the objects may be stale, and a warning is logged. */
  #lost = false;
  #cancel: Cancel = () => {};
  #wake: () => void = () => {};

  /** @param path of the collection */
  constructor(path: string, tools: ReflectorTools, options: ReflectorOptions) {
    this.#path = path;
    this.#tools = tools;
    this.#options = options;
    void this.#run();
  }

  close(): void {
    this.#over.abort();
    this.#cancel();
    this.#wake();
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#over.signal.aborted) {
      let isOpen = false;
      try {
        if (this.#version === '') await this.#list();
        await this.#watch({
          onOpen: () => {
            isOpen = true;
          },
          onEvent: () => {
            failures = 0;
          },
        });
        failures = 0;
        // A server that ends every watch at once is not to be asked without a pause.
        await this.#pause(backoffMsMin * this.#tools.random());
      } catch (error) {
        if (this.#over.signal.aborted) return;
        const status = error instanceof RefusedError ? error.status : undefined;
        if (status === undefined ? !isOpen : status !== tooManyRequests) this.#version = '';
        if (status !== gone) {
          this.#options.onLoss?.({ reason: reasonOf(error), status });
          this.#noteLoss(error);
        }
        failures++;
        const span = Math.min(backoffMsMax, backoffMsMin * 2 ** Math.min(failures, 10));
        await this.#pause(span / 2 + (this.#tools.random() * span) / 2);
      }
    }
  }

  async #list(): Promise<void> {
    const { objects, version } = await this.#tools.api.list(this.#path, this.#over.signal);
    const listed = new Map(objects.map((object) => [keyOf(object), object]));
    for (const key of [...this.objects.keys()]) if (!listed.has(key)) this.#put(key, undefined);
    for (const [key, object] of listed) this.#put(key, object);
    this.#version = version;
    this.known = true;
    this.#options.onRound?.();
  }

  #watch({ onOpen, onEvent }: { readonly onOpen: () => void; readonly onEvent: () => void }): Promise<void> {
    const seconds = Math.floor(watchSecondsMin * (1 + this.#tools.random()));
    return this.#tools.api.watch(this.#path, this.#version, seconds, {
      signal: this.#over.signal,
      onOpen: () => {
        onOpen();
        this.#noteReturn();
      },
      onEvent: ({ type, object }) => {
        onEvent();
        if (Number(object.metadata.resourceVersion) < Number(this.#version))
          throw new RefusedError(gone, 'the versions of the API count anew');
        this.#version = object.metadata.resourceVersion ?? this.#version;
        if (type === 'BOOKMARK') return;
        this.#put(keyOf(object), type === 'DELETED' ? undefined : object);
        this.#options.onRound?.();
      },
    });
  }

  #put(key: string, object: KubernetesObject | undefined): void {
    const before = this.objects.get(key);
    const after = object === undefined ? undefined : (this.#options.keep?.(before, object) ?? object);
    if (after === undefined) this.objects.delete(key);
    else this.objects.set(key, after);
    if (before !== undefined || after !== undefined) this.#options.onChange?.(key, before, after);
  }

  #noteReturn(): void {
    this.#options.onLoss?.(undefined);
    if (!this.#lost) return;
    this.#lost = false;
    this.#tools.logger.info({ path: this.#path }, 'Kubernetes is watched again');
  }

  #noteLoss(error: unknown): void {
    if (this.#lost) return;
    this.#lost = true;
    const reason = reasonOf(error);
    this.#tools.logger.warn({ path: this.#path, reason }, 'Kubernetes cannot be watched: what is known stays in use');
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#cancel = this.#tools.clock.after(ms, resolve);
    });
  }
}
