// Leader election by a Lease (coordination.k8s.io/v1). Times of other holders are not compared with the own clock: a lease is
// expired when it has not changed for its duration, as this process has observed it.
import { reasonOf } from '../telemetry/error-reason.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import { type KubernetesApi, RefusedError } from './kubernetes-api.ts';
import type { KubernetesObject } from './objects.ts';

interface Lease extends KubernetesObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export interface ElectionOptions {
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  /** Time after which a lease that is not renewed may be taken. */
  readonly leaseMs: number;
  /** Time after the last renewal when the holder stops by itself; shorter than the lease. */
  readonly renewMs: number;
  readonly retryMs: number;
}

export interface ElectionTools {
  readonly api: Pick<KubernetesApi, 'get' | 'create' | 'update'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with the number of the term when this process becomes the leader. */
  readonly onLead: (term: number) => void;
  /** Called when it is the leader no more. */
  readonly onFollow: () => void;
}

export class LeaderElection {
  readonly #options: ElectionOptions;
  readonly #tools: ElectionTools;
  readonly #path: string;
  #observed = { text: '', atMs: 0 };
  #renewedAtMs = 0;
  #isLeading = false;
  #isClosed = false;
  #cancel: Cancel = () => {};
  #expiry: Cancel = () => {};

  constructor(options: ElectionOptions, tools: ElectionTools) {
    this.#options = options;
    this.#tools = tools;
    const namespace = encodeURIComponent(options.namespace);
    this.#path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  start(): void {
    void this.#round();
  }

  /** Ends the candidacy, and gives the lease back so that another process need not wait for it to expire. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    const wasLeading = this.#isLeading;
    this.#resign();
    if (!wasLeading) return;
    try {
      const lease = await this.#tools.api.get<Lease>(this.#leasePath);
      if (lease.spec?.holderIdentity !== this.#options.identity) return;
      const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.#stamp() };
      await this.#tools.api.update(this.#leasePath, { ...lease, spec });
    } catch (error) {
      this.#tools.logger.debug({ reason: reasonOf(error) }, 'the lease cannot be given back: it expires');
    }
  }

  get #leasePath(): string {
    return `${this.#path}/${encodeURIComponent(this.#options.name)}`;
  }

  async #round(): Promise<void> {
    const startedAtMs = this.#tools.clock.monotonicMs();
    try {
      const term = await this.#acquire();
      if (!this.#isClosed && term !== undefined) this.#renewed(startedAtMs, term);
      else if (this.#isLeading) this.#resign();
    } catch (error) {
      this.#tools.logger.debug({ reason: reasonOf(error) }, 'the lease cannot be renewed');
    }
    if (this.#isClosed) return;
    this.#cancel = this.#tools.clock.after(this.#options.retryMs, () => void this.#round());
  }

  /** Takes or renews the lease and returns the number of the term; undefined while another process holds it. */
  async #acquire(): Promise<number | undefined> {
    const { api, clock } = this.#tools;
    const { identity, name, namespace, leaseMs } = this.#options;
    const lease = await this.#read();
    const times = { leaseDurationSeconds: Math.ceil(leaseMs / 1_000), renewTime: this.#stamp() };
    if (lease === undefined) {
      const spec = { holderIdentity: identity, acquireTime: times.renewTime, leaseTransitions: 0, ...times };
      const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec };
      return refusedAsUndefined(api.create(this.#path, body).then(() => 0));
    }
    const { holderIdentity = '', leaseTransitions = 0, leaseDurationSeconds } = lease.spec ?? {};
    const text = JSON.stringify(lease.spec);
    if (text !== this.#observed.text) this.#observed = { text, atMs: clock.monotonicMs() };
    const isOwn = holderIdentity === identity;
    const lastsMs = (leaseDurationSeconds ?? 0) * 1_000;
    if (!isOwn && holderIdentity !== '' && clock.monotonicMs() - this.#observed.atMs < lastsMs) return undefined;
    const term = isOwn ? leaseTransitions : leaseTransitions + 1;
    const acquired = isOwn ? {} : { acquireTime: times.renewTime };
    const spec = { ...lease.spec, holderIdentity: identity, leaseTransitions: term, ...acquired, ...times };
    // The version of the lease is part of it: of two candidates one is refused.
    return refusedAsUndefined(api.update(this.#leasePath, { ...lease, spec }).then(() => term));
  }

  async #read(): Promise<Lease | undefined> {
    try {
      return await this.#tools.api.get<Lease>(this.#leasePath);
    } catch (error) {
      if (error instanceof RefusedError && error.status === 404) return undefined;
      throw error;
    }
  }

  #renewed(atMs: number, term: number): void {
    const { clock, logger, onLead } = this.#tools;
    this.#renewedAtMs = atMs;
    this.#expiry();
    const leftMs = Math.max(0, this.#renewedAtMs + this.#options.renewMs - clock.monotonicMs());
    this.#expiry = clock.after(leftMs, () => this.#resign());
    if (this.#isLeading) return;
    this.#isLeading = true;
    logger.info({ identity: this.#options.identity, term }, 'this process leads');
    onLead(term);
  }

  #resign(): void {
    this.#expiry();
    if (!this.#isLeading) return;
    this.#isLeading = false;
    this.#tools.logger.info({ identity: this.#options.identity }, 'this process leads no more');
    this.#tools.onFollow();
  }

  /** Time of leases: microseconds. */
  #stamp(): string {
    return new Date(this.#tools.clock.nowMs()).toISOString().replace('Z', '000Z');
  }
}

async function refusedAsUndefined(term: Promise<number>): Promise<number | undefined> {
  try {
    return await term;
  } catch (error) {
    if (error instanceof RefusedError && error.status === 409) return undefined;
    throw error;
  }
}
