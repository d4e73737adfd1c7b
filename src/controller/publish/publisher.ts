// Writes what Sluice is to have: the difference to what it has, as one batch that is active at once, and then follows the
// fleet until every proxy has it.
import { createHash } from 'node:crypto';
import { type BatchLimits, batchLimits, largeBatchLimits } from '../../model/batch-limits.ts';
import { type EditableKind, editableKinds } from '../../model/kinds.ts';
import { reasonOf } from '../../telemetry/error-reason.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import { gatewayCell } from '../graph/controller-graph.ts';
import { idPrefixOf } from '../graph/entity-id.ts';
import { type EntitySet, entityText } from './entity-set.ts';
import { Fence } from './fence.ts';
import { FleetWatch } from './fleet-watch.ts';
import { Rollouts } from './progressive-activation.ts';
import { refusedSteps, type WrittenStep } from './refused-steps.ts';
import type { GatewayRollout } from './rollout-annotation.ts';
import { type SluiceApi, SluiceRefusal } from './sluice-api.ts';

export interface PublisherTools {
  readonly api: SluiceApi;
  readonly entities: EntitySet;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Owner of the entities in Sluice. */
  readonly owner: string;
  /** Name of this process, for the fence. */
  readonly instance: string;
  /** Called when something is written, installed or refused: statuses may be different. */
  readonly onProgress: () => void;
  /** Called with an entity that Sluice refuses, and again when it is taken. */
  readonly onRefused?: (refused: RefusedEntity) => void;
  /** Returns how changes of a holder become active step by step; undefined: at once. */
  readonly rolloutOf?: (holder: string) => GatewayRollout | undefined;
  /** Called after each batch. */
  readonly onBatch?: (outcome: 'written' | 'refused' | 'failed', operations: number, ms: number) => void;
}

interface RefusedEntity {
  readonly key: string;
  readonly holders: readonly string[];
  /** Text that is refused; undefined: it is taken. */
  readonly text: string | undefined;
  /** True: Sluice has an earlier version, which stays in force. */
  readonly isLive: boolean;
}

interface Operation {
  readonly op: 'upsert' | 'update' | 'delete';
  readonly kind: EditableKind;
  readonly id?: string;
  readonly missingOk?: true;
  readonly body?: object;
  readonly ifMatch?: string;
}

/** Steps of a batch: the fence is an operation, too. Characters of their bodies, well below the bytes that Sluice takes. */
const within = ({ operations, bytes }: BatchLimits) => ({ steps: operations - 1, text: bytes / 2 });
const usual = within(batchLimits);
const large = within(largeBatchLimits);
const retryMsMin = 500;
const retryMsMax = 15_000;

export class Publisher {
  readonly #tools: PublisherTools;
  readonly fleet: FleetWatch;
  /** Text of each entity as it was written last, by key. */
  readonly #written = new Map<string, string>();
  /** Keys that may differ from what is written. */
  readonly #pending = new Set<string>();
  /** Sequence numbers of the last change of each holder. */
  readonly #changedIn = new Map<string, number>();
  /** Entities that Sluice refuses: the text that it refused, and why. */
  readonly #refused = new Map<string, { readonly text: string; readonly reason: string }>();
  #sequence = 1;
  #writtenUpTo = 0;
  #isLoaded = false;
  #isRunning = false;
  #isActive = false;
  /** Number of the leadership. */
  #term = 0;
  /** False: the server knows usual batches alone, as one of an older version does. */
  #takesLarge = true;
  /** True until the fence has been raised in this leadership. */
  #isFirst = true;
  #failures = 0;
  readonly #fence: Fence;
  readonly #rollouts: Rollouts;
  /** Set while a failure is waited out. */
  #retry: Cancel | undefined;

  constructor(tools: PublisherTools) {
    this.#tools = tools;
    this.fleet = new FleetWatch(tools);
    this.#fence = new Fence(tools);
    this.#rollouts = new Rollouts(tools);
  }

  /** Begins to write. Until then changes are gathered. @param term number of the leadership of this process */
  start(term: number): void {
    if (!this.#isActive || term !== this.#term) {
      this.#isLoaded = false;
      this.#isFirst = true;
    }
    this.#isActive = true;
    this.#term = term;
    this.kick();
  }

  stop(): void {
    this.#isActive = false;
    this.#retry?.();
    this.#retry = undefined;
    this.fleet.stop();
  }

  /** Notes changed entities of a holder. */
  changed(holder: string, keys: readonly string[]): void {
    if (keys.length === 0) return;
    for (const key of keys) this.#pending.add(key);
    this.#changedIn.set(holder, this.#sequence);
    // Deletions that a rollout did not make active go with the next change: no object tells of them.
    for (const [key, { text }] of this.#refused) if (text === '' && this.#refused.delete(key)) this.#pending.add(key);
  }

  /** Has everything tried again that was refused. */
  retryRefused(): void {
    for (const key of [...this.#refused.keys()]) {
      this.#pending.add(key);
      this.#forgive(key);
    }
  }

  forget(holder: string): void {
    this.#changedIn.delete(holder);
  }

  /** Returns whether every proxy has all of a holder. */
  isInstalled(holder: string): boolean {
    const needed = this.#changedIn.get(holder) ?? 0;
    return needed <= this.#writtenUpTo && this.fleet.isInstalled(needed) && this.refusalOf(holder) === undefined;
  }

  /** State of the rollout that is awaited; undefined: none is. */
  get rolloutProgress(): string | undefined {
    return this.#rollouts.progress;
  }

  /** Returns the reason why Sluice refuses one of several entities: that of a key, or one whose key goes on behind it. */
  refusalBelow(key: string): string | undefined {
    for (const [refused, { reason }] of this.#refused)
      if (refused === key || refused.startsWith(`${key}:`)) return reason;
    return undefined;
  }

  /** Returns the reason why Sluice refuses an entity of a holder. */
  refusalOf(holder: string): string | undefined {
    if (this.#refused.size === 0) return undefined;
    for (const key of this.#tools.entities.heldBy(holder)) {
      const refused = this.#refused.get(key);
      if (refused !== undefined) return refused.reason;
    }
    return undefined;
  }

  kick(): void {
    if (!this.#isActive || this.#isRunning || this.#retry !== undefined) return;
    this.#isRunning = true;
    void this.#run().finally(() => {
      this.#isRunning = false;
    });
  }

  async #run(): Promise<void> {
    try {
      while (this.#isActive && (!this.#isLoaded || this.#pending.size > 0)) {
        if (!this.#isLoaded) await this.#load();
        else await this.#write();
      }
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      const waitMs = Math.min(retryMsMax, retryMsMin * 2 ** Math.min(this.#failures - 1, 10));
      this.#tools.logger.warn({ reason: reasonOf(error), waitMs }, 'Sluice cannot be written to: it is tried again');
      this.#retry = this.#tools.clock.after(waitMs, () => {
        this.#retry = undefined;
        this.kick();
      });
    }
  }

  /** Reads what Sluice has of this owner, so that a restart writes only what is different. */
  async #load(): Promise<void> {
    const { api, entities, owner } = this.#tools;
    if (!(await this.#rollouts.finish(() => this.#isActive))) return;
    this.#written.clear();
    await this.#fence.raise(this.#isFirst);
    this.#isFirst = false;
    for (const kind of editableKinds) {
      for (const stored of await api.list(kind, `?owner=${encodeURIComponent(owner)}`)) {
        if (stored.owner !== owner || stored.id === this.#fence.id) continue;
        const { owner: _, labels, ...body } = stored;
        const key = `${kind}/${stored.id}`;
        this.#written.set(key, kind === 'secrets' ? (labels?.digest ?? '') : entityText({ body }));
        this.#pending.add(key);
      }
    }
    for (const key of entities.keys()) this.#pending.add(key);
    this.#isLoaded = true;
    this.#takesLarge = true;
    if (!this.#isBehind()) this.#settled(this.#sequence++, await this.#activeIndex());
  }

  #isBehind(): boolean {
    return [...this.#pending].some((key) => this.#operationFor(key) !== undefined);
  }

  async #activeIndex(): Promise<number> {
    const [latest] = await this.#tools.api.get<readonly { readonly index: number }[]>('/activations?limit=1');
    return latest?.index ?? 0;
  }

  async #write(): Promise<void> {
    const { clock, onBatch, logger } = this.#tools;
    const sequence = this.#sequence++;
    const { keys, steps, isLarge } = this.#nextSteps();
    for (const key of keys) this.#pending.delete(key);
    if (steps.length === 0) {
      this.#writtenUpTo = sequence;
      this.fleet.noteUnchanged(sequence);
      this.#tools.onProgress();
      return;
    }
    const wishes = new Map(steps.map(({ key }) => [key, this.#rolloutOf(key)]));
    const unclear = steps.filter(({ key, text }) => text !== undefined && wishes.get(key)?.problem !== undefined);
    if (unclear.length > 0) {
      for (const key of keys) this.#pending.add(key);
      for (const { key, text = '' } of unclear) this.#refuse(key, text, wishes.get(key)?.problem ?? '');
      return;
    }
    const settings = [...wishes.values()].find((wish) => wish?.settings !== undefined)?.settings;
    const startedAt = clock.monotonicMs();
    try {
      const operations = steps.map(({ operation }) => operation);
      const answer = await this.#send({ operations, sequence, activate: settings === undefined, isLarge });
      if (settings !== undefined && !(await this.#rollOut(answer.snapshot?.id ?? '', settings, steps))) {
        for (const key of keys) this.#pending.add(key);
        this.#isLoaded = false;
        return;
      }
      for (const { key, text } of steps) {
        if (text === undefined) this.#written.delete(key);
        else this.#written.set(key, text);
        if (this.#forgive(key)) this.#forgiveBeside(key);
      }
      onBatch?.('written', steps.length, clock.monotonicMs() - startedAt);
      logger.debug({ operations: steps.length, index: answer.index }, 'Sluice is written to');
      this.#settled(sequence, settings === undefined ? answer.index : await this.#activeIndex());
    } catch (error) {
      for (const key of keys) this.#pending.add(key);
      if (this.#fence.isLost(error, steps.length)) this.#isLoaded = false;
      if (isLarge && error instanceof SluiceRefusal && error.status === notFound) {
        this.#takesLarge = false;
        return;
      }
      const refused = error instanceof SluiceRefusal ? refusedSteps(error, steps) : [];
      onBatch?.(refused.length === 0 ? 'failed' : 'refused', steps.length, clock.monotonicMs() - startedAt);
      if (refused.length === 0) throw error;
      for (const { key, text = '' } of refused) this.#refuse(key, text, reasonOf(error));
    }
  }

  /** Returns the rollout of the Gateway that an entity belongs to; undefined where its listeners are not live yet. */
  #rolloutOf(key: string): GatewayRollout | undefined {
    const { rolloutOf, entities } = this.#tools;
    if (rolloutOf === undefined) return undefined;
    const holders = entities.holdersOf(key);
    const known = holders.length > 0 ? holders : formerHolders(key, this.#written.get(key), this.#tools.owner);
    for (const holder of known) {
      const wish = rolloutOf(holder);
      const isLive = (each: string): boolean => kindOf(each) === 'listeners' && this.#written.has(each);
      if (wish !== undefined && entities.heldBy(wish.gateway).some(isLive)) return wish;
    }
    return undefined;
  }

  /** Returns whether a snapshot has become active; otherwise what is in it is left out until it is different. */
  async #rollOut(snapshotId: string, settings: object, steps: readonly Step[]): Promise<boolean> {
    const end = await this.#rollouts.run(snapshotId, settings, () => this.#isActive);
    if (end === undefined) return false;
    const { failure } = end;
    if (failure !== undefined) for (const { key, text = '' } of steps) this.#refuse(key, text, failure);
    return failure === undefined;
  }

  /** Leaves an entity out until it is different: one that Sluice refuses does not hold up the others. */
  #refuse(key: string, text: string, reason: string): void {
    this.#refused.set(key, { text, reason });
    this.#tools.logger.warn({ entity: key, reason }, 'Sluice refuses an entity: it is left out');
    this.#tellRefusal(key, text);
    this.#tools.onProgress();
  }

  /** Forgets that an entity is refused; returns whether it was. */
  #forgive(key: string): boolean {
    if (!this.#refused.delete(key)) return false;
    this.#tellRefusal(key, undefined);
    return true;
  }

  /** Has entities tried again whose holders hold one that is taken now: they may have been refused for the lack of it. */
  #forgiveBeside(taken: string): void {
    const { entities } = this.#tools;
    for (const holder of entities.holdersOf(taken))
      for (const key of entities.heldBy(holder)) if (this.#forgive(key)) this.#pending.add(key);
  }

  #tellRefusal(key: string, text: string | undefined): void {
    const holders = this.#tools.entities.holdersOf(key);
    this.#tools.onRefused?.({ key, holders, text, isLive: this.#written.has(key) });
  }

  #settled(sequence: number, index: number): void {
    this.#writtenUpTo = sequence;
    this.fleet.expect(sequence, index);
    this.#tools.onProgress();
  }

  /** Operations for what is pending, in an order in which each finds what it refers to, as many as a batch may have. */
  #nextSteps(): { readonly keys: string[]; readonly steps: Step[]; readonly isLarge: boolean } {
    const most = this.#takesLarge ? large : usual;
    const keys = [...this.#pending].sort((a, b) => this.#placeOf(a) - this.#placeOf(b));
    const steps: Step[] = [];
    let length = 0;
    for (const [at, key] of keys.entries()) {
      const operation = this.#operationFor(key);
      if (operation === undefined) continue;
      const text = this.#textOf(key);
      const more = this.#tools.entities.get(key)?.text.length ?? 0;
      if (steps.length === most.steps || (length + more > most.text && steps.length > 0))
        return { keys: keys.slice(0, at), steps, isLarge: isLarge(steps, length) };
      length += more;
      steps.push({ key, operation, text });
    }
    return { keys, steps, isLarge: isLarge(steps, length) };
  }

  #placeOf(key: string): number {
    const place = kindOrder.indexOf(kindOf(key));
    return this.#tools.entities.get(key) === undefined ? 2 * kindOrder.length - place : place;
  }

  async #send(sent: SentSteps): Promise<BatchAnswer> {
    const batch = this.#batchOf(sent);
    const { api } = this.#tools;
    const send = async (body: object): Promise<BatchAnswer> => {
      // A large answer counts: the fence, which is written as it was, keeps its revision.
      const answer = sent.isLarge
        ? await api.largeBatch<BatchAnswer>(body, sent.operations.length)
        : await api.batch<BatchAnswer>(body);
      this.#fence.written(answer.results?.at(-1)?.etag);
      return answer;
    };
    try {
      return await send(batch);
    } catch (error) {
      if (!(error instanceof SluiceRefusal) || error.status !== 409 || !error.message.includes('/snapshot/base'))
        throw error;
      // Entities of this owner were edited by another writer. What the cluster says counts: it is staged first.
      const reason = reasonOf(error);
      this.#tools.logger.warn({ reason }, 'edits of entities that the controller owns are overwritten');
      const { snapshot: _, ...staged } = batch;
      await send(staged);
      return await send(this.#batchOf(sent));
    }
  }

  #batchOf({ operations, sequence, activate }: SentSteps) {
    const { owner, clock } = this.#tools;
    return {
      operations: [...operations, this.#fence.operation()],
      owner,
      snapshot: {
        name: `${owner} ${new Date(clock.nowMs()).toISOString()} ${sequence}`,
        activate,
        base: 'active',
        keep: snapshotsKept,
      },
    };
  }

  #operationFor(key: string): Operation | undefined {
    const wanted = this.#tools.entities.get(key);
    const kind = kindOf(key);
    if (wanted === undefined) {
      if (!this.#written.has(key) || this.#refused.get(key)?.text === '') return undefined;
      return { op: 'delete', kind, id: key.slice(kind.length + 1), missingOk: true };
    }
    const text = this.#textOf(key) ?? '';
    if (this.#written.get(key) === text || this.#refused.get(key)?.text === text) return undefined;
    const { body } = wanted.entity;
    const labels = kind === 'secrets' ? { digest: text } : undefined;
    return { op: 'upsert', kind, body: { ...body, owner: this.#tools.owner, ...(labels && { labels }) } };
  }

  /** Text of an entity as it is wanted. Of a secret, whose value Sluice does not tell, the digest. */
  #textOf(key: string): string | undefined {
    const wanted = this.#tools.entities.get(key);
    if (wanted === undefined || wanted.entity.kind !== 'secrets') return wanted?.text;
    return createHash('sha256').update(wanted.text).digest('hex').slice(0, digestLength);
  }
}

interface SentSteps {
  readonly operations: readonly Operation[];
  readonly sequence: number;
  readonly activate: boolean;
  readonly isLarge: boolean;
}

const notFound = 404;

const isLarge = ({ length: count }: readonly unknown[], text: number): boolean =>
  count > usual.steps || text > usual.text;

interface BatchAnswer {
  readonly index: number;
  readonly snapshot?: { readonly id: string };
  readonly results?: readonly { readonly etag: string }[];
}

interface Step extends WrittenStep {
  readonly operation: Operation;
}

/** Holders of an entity that is to go: the Gateways of the listeners that it names. */
function formerHolders(key: string, text: string | undefined, owner: string): string[] {
  if (text === undefined || (kindOf(key) !== 'routes' && kindOf(key) !== 'streamRoutes')) return [];
  const { listenerIds, match } = JSON.parse(text) as { listenerIds?: string[]; match?: { listenerIds?: string[] } };
  return (listenerIds ?? match?.listenerIds ?? []).map((id) => {
    const [, namespace, name] = id.split(':').slice(idPrefixOf(owner).length);
    return gatewayCell(`${namespace}/${name}`);
  });
}

const kindOf = (key: string): EditableKind => key.slice(0, key.indexOf('/')) as EditableKind;

/** Kinds in an order in which each refers to those before it. */
const kindOrder: readonly EditableKind[] = [
  'secrets',
  'middlewares',
  'destinations',
  'listeners',
  'routes',
  'streamRoutes',
  'groups',
];

const digestLength = 32;
/** Snapshots of this owner that Sluice keeps, to go back to. */
const snapshotsKept = 10;
