// The present state of one collection: listed once, then followed event by event from the version of the list. A watch
// that ends or breaks goes on where it was; one that is refused begins with a list again, for the version may be one that
// the API does not know any more (410), or not yet: after a restore from a backup it counts anew from an earlier one.

import { reasonOf } from '../../../telemetry/error-reason.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { Cancel, Clock } from '../../../util/clock.ts';
import { type KubernetesApi, type KubernetesObject, RefusedError } from './kubernetes-api.ts';

export interface ReflectorTools {
  readonly api: Pick<KubernetesApi, 'list' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
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
  /** By name. Kept while the API cannot be reached. */
  readonly objects = new Map<string, KubernetesObject>();
  /** True once the objects have been listed. */
  known = false;
  readonly #path: string;
  readonly #tools: ReflectorTools;
  readonly #onChange: () => void;
  readonly #over = new AbortController();
  #version = '';
  /** True when the objects may be stale, and a warning is logged. */
  #lost = false;
  #cancel: Cancel = () => {};
  #wake: () => void = () => {};

  /** `path` of the collection. `onChange` is called whenever something may be different. */
  constructor(path: string, tools: ReflectorTools, onChange: () => void) {
    this.#path = path;
    this.#tools = tools;
    this.#onChange = onChange;
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
      try {
        if (this.#version === '') await this.#list();
        await this.#watch(() => {
          failures = 0;
        });
        failures = 0;
        // A server that ends every watch at once is not to be asked without a pause.
        await this.#pause(backoffMsMin * this.#tools.random());
      } catch (error) {
        if (this.#over.signal.aborted) return;
        const status = error instanceof RefusedError ? error.status : undefined;
        if (status !== undefined && status !== tooManyRequests) this.#version = '';
        if (status !== gone) this.#noteLoss(error);
        failures++;
        const span = Math.min(backoffMsMax, backoffMsMin * 2 ** Math.min(failures, 10));
        await this.#pause(span / 2 + (this.#tools.random() * span) / 2);
      }
    }
  }

  async #list(): Promise<void> {
    const { objects, version } = await this.#tools.api.list(this.#path, this.#over.signal);
    this.objects.clear();
    for (const object of objects) this.objects.set(object.metadata.name, object);
    this.#version = version;
    this.known = true;
    this.#onChange();
  }

  #watch(onEvent: () => void): Promise<void> {
    const seconds = Math.floor(watchSecondsMin * (1 + this.#tools.random()));
    return this.#tools.api.watch(this.#path, this.#version, seconds, {
      signal: this.#over.signal,
      onOpen: () => this.#noteReturn(),
      onEvent: ({ type, object }) => {
        onEvent();
        this.#version = object.metadata.resourceVersion ?? this.#version;
        if (type === 'BOOKMARK') return;
        if (type === 'DELETED') this.objects.delete(object.metadata.name);
        else this.objects.set(object.metadata.name, object);
        this.#onChange();
      },
    });
  }

  #noteReturn(): void {
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
