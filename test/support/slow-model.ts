// Reference model of the state machine, written as plainly as possible: lists, searches, copies, nothing clever.

import { isDeepStrictEqual } from 'node:util';
import type { RequestId } from '../../src/model/answers/member-messages.ts';
import { type ConfigKind, configKinds, type EditableKind, type Kind } from '../../src/model/kinds.ts';
import type {
  Batch,
  BatchOperation,
  Command,
  Discard,
  IfMatch,
  Result,
  RolloutCommand,
} from '../../src/state/command.ts';
import type { RolloutPlan } from '../../src/state/rollout.ts';

interface Item {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly revision: number;
  readonly body: unknown;
  /** Owner of the batch that wrote it last. */
  readonly writer?: string | undefined;
}

interface Fields {
  readonly owner?: string;
  readonly labels?: unknown;
  readonly value?: string;
}

const fieldsOf = (item: Item | undefined): Fields => (item?.body ?? {}) as Fields;

/** Fields of an update, with what it leaves out. */
function kept(body: Fields, old: Item | undefined): object {
  const { owner, labels } = fieldsOf(old);
  return { ...(owner !== undefined && { owner }), ...(labels !== undefined && { labels }), ...body };
}

interface Content {
  readonly lists: readonly (readonly unknown[])[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** `index`: where it was decided; of a repetition, where it was decided first. */
export type Decision = Pick<Result, 'status' | 'index' | 'kind' | 'id'>;

/** Start of a node, as its requests show it. */
interface Start extends Pick<RequestId, 'origin' | 'incarnation' | 'boot'> {
  ackedBelow: number;
  supersededAt: number | undefined;
  readonly answers: Map<number, Decision>;
}

interface Key {
  readonly bodyHash: string;
  readonly time: number;
  readonly decision: Decision;
}

const hour = 3_600_000;

export class SlowModel {
  items: Item[] = [];
  changedAt = 0;
  active: { readonly snapshotId: string; readonly index: number } | undefined;
  history: { readonly index: number; readonly snapshotId: string; readonly reason: string }[] = [];
  /** Rollouts, with the fields alone that decide about other commands. */
  /** Pairs of destination and endpoint. */
  drained: string[] = [];
  /** Keys of signed cookies, the newest first. */
  cookieKeys: { index: number; keys: string[] } = { index: 0, keys: [] };
  /** Ids of the API keys of the cluster, in the order in which they were made. */
  apiKeys: string[] = [];
  rollouts: { id: string; snapshotId: string; state: string; step: number; epoch: number }[] = [];
  readonly #plans = new Map<string, RolloutPlan>();
  pending: { snapshotId: string; index: number; deadline: number; back: string } | undefined;
  #logTime = 0;
  #starts: Start[] = [];
  readonly #gone: Start[] = [];
  readonly #keys = new Map<string, Key>();

  /** Refused without being kept: undefined. Everything else is what every repetition is answered with. */
  apply(command: Command, index: number): Decision | undefined {
    const { requestId } = command;
    this.#logTime = Math.max(this.#logTime, command.time);
    this.#forgetStarts();
    const start = this.#startOf(requestId);
    if (start === undefined) return undefined;
    start.ackedBelow = Math.max(start.ackedBelow, requestId.ackedBelow);
    if (requestId.seq < start.ackedBelow) return undefined;
    const known = start.answers.get(requestId.seq);
    if (known !== undefined) return known;
    const decision = this.#withKey(command, index);
    start.answers.set(requestId.seq, decision);
    return decision;
  }

  /**
   * An hour of log time after a later start of the same store was seen; or only its answers, when starts of other stores
   * of the same node were seen since, and nothing of this one.
   */
  #forgetStarts(): void {
    const isOld = ({ supersededAt = Number.POSITIVE_INFINITY }: Start) => this.#logTime >= supersededAt + hour;
    const old = this.#starts.filter(isOld);
    const replaced = old.filter((start) => !this.#isLatest(start));
    for (const start of old.filter((each) => !replaced.includes(each))) {
      start.ackedBelow = Math.max(start.ackedBelow, ...[...start.answers.keys()].map((seq) => seq + 1));
      start.answers.clear();
      start.supersededAt = undefined;
    }
    this.#gone.push(...replaced);
    this.#starts = this.#starts.filter((start) => !replaced.includes(start));
  }

  #isLatest({ origin, incarnation, boot }: Start): boolean {
    return !this.#starts.some((one) => one.origin === origin && one.incarnation === incarnation && one.boot > boot);
  }

  #startOf({ origin, incarnation, boot }: RequestId): Start | undefined {
    const isSameStore = (other: Start) => other.origin === origin && other.incarnation === incarnation;
    if (this.#gone.some((other) => isSameStore(other) && other.boot >= boot)) return undefined;
    const known = this.#starts.find((other) => isSameStore(other) && other.boot === boot);
    if (known !== undefined) {
      if (this.#isLatest(known)) known.supersededAt = undefined;
      return known;
    }
    const start: Start = { origin, incarnation, boot, ackedBelow: 1, supersededAt: undefined, answers: new Map() };
    for (const other of this.#starts.filter((one) => one.origin === origin)) {
      if (isSameStore(other) && other.boot > boot) start.supersededAt ??= this.#logTime;
      else if (isSameStore(other) && this.#isLatest(other)) other.supersededAt = this.#logTime;
      else other.supersededAt ??= this.#logTime;
    }
    this.#starts.push(start);
    return start;
  }

  list(kind: Kind): Item[] {
    return this.items
      .filter((item) => item.kind === kind)
      .sort((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
  }

  #withKey(command: Command, index: number): Decision {
    const { idempotency, id } = command;
    const kind = 'kind' in command ? command.kind : 'snapshots';
    const used = idempotency && this.#keys.get(idempotency.scope);
    if (idempotency !== undefined && used !== undefined && this.#logTime < used.time + 24 * hour) {
      if (used.bodyHash === idempotency.bodyHash) return used.decision;
      return { ...used.decision, status: 422, index };
    }
    const status = this.#execute(command, index);
    // A rollback or revert is answered with the snapshot that it leads to.
    const isBack = status === 200 && (command.op === 'rollback' || command.op === 'revert');
    const decision: Decision = { status, index, kind, id: isBack ? String(this.active?.snapshotId) : id };
    if (idempotency !== undefined && decision.status !== 'moved')
      this.#keys.set(idempotency.scope, { bodyHash: idempotency.bodyHash, time: this.#logTime, decision });
    return decision;
  }

  #execute(command: Command, index: number): Result['status'] {
    if (command.op === 'batch') return this.#batch(command, index);
    if (command.op === 'drain') {
      const pair = `${command.id} ${command.endpoint}`;
      const isNew = command.drained && !this.drained.includes(pair);
      if (isNew) this.drained.push(pair);
      else if (!command.drained) this.drained = this.drained.filter((each) => each !== pair);
      return 200;
    }
    if (command.op === 'cookieKey') {
      if (command.after !== this.cookieKeys.index) return 409;
      this.cookieKeys = { index, keys: [command.key, ...this.cookieKeys.keys].slice(0, 8) };
      return 200;
    }
    if (command.op === 'apiKey') {
      if (this.apiKeys.includes(command.id)) return 409;
      this.apiKeys.push(command.id);
      return 200;
    }
    if (command.op === 'revokeApiKey') {
      if (!this.apiKeys.includes(command.id)) return 404;
      this.apiKeys = this.apiKeys.filter((id) => id !== command.id);
      return 200;
    }
    if (command.op === 'rollout') return this.#rollout(command, index);
    if (command.op === 'discard') return this.#discard(command, index);
    if (command.op === 'rollback') return this.#underWay() ? 409 : this.#back(index, 'rollback', this.#before());
    if (command.op === 'revert') return this.#revert(command.activation, index);
    const kind = 'kind' in command ? command.kind : 'snapshots';
    const old = this.items.find((item) => item.kind === kind && item.id === command.id);
    const creates = command.op === 'capture' || (command.op === 'put' && command.mode === 'create');
    if (creates && old !== undefined) return 409;
    if (!creates && old === undefined) return 404;
    const match = 'ifMatch' in command ? command.ifMatch : undefined;
    if (!creates && Array.isArray(match) && !match.includes(old?.revision)) return 412;
    const name =
      command.op === 'put' ? String(command.spec.fields.name) : command.op === 'capture' ? command.name : undefined;
    if (this.items.some((item) => item.kind === kind && item.name === name && item.id !== command.id)) return 409;
    switch (command.op) {
      case 'put':
        this.#replace({
          kind,
          id: command.id,
          name: name ?? '',
          revision: index,
          body: creates ? command.spec.fields : kept(command.spec.fields, old),
        });
        this.changedAt = index;
        return creates ? 201 : 200;
      case 'delete':
        if (kind === 'snapshots' && this.#isNeeded(command.id)) return 409;
        this.items = this.items.filter((item) => item !== old);
        if (kind !== 'snapshots') this.changedAt = index;
        return 204;
      case 'activate': {
        const back = this.pending?.snapshotId === command.id ? this.pending.back : this.active?.snapshotId;
        const { confirmWithin } = command;
        const rollout = this.#underWay();
        if (rollout !== undefined && !command.force) return 409;
        if (confirmWithin !== undefined && back === undefined) return 409;
        if (rollout !== undefined) Object.assign(rollout, { state: 'aborted', epoch: index });
        this.#live(command.id, index, 'activated');
        if (confirmWithin !== undefined && back !== undefined) {
          this.pending = { snapshotId: command.id, index, deadline: this.#logTime + confirmWithin, back };
        }
        return 200;
      }
      case 'confirm':
        if (this.pending?.snapshotId !== command.id || this.#logTime > this.pending.deadline + 30_000) return 409;
        this.pending = undefined;
        return 200;
      case 'capture': {
        const body = this.#captured(command.values);
        if (command.checkedAt !== this.changedAt || body === undefined) return 'moved';
        this.#replace({ kind, id: command.id, name: name ?? '', revision: index, body });
        return 201;
      }
    }
  }

  #live(snapshotId: string, index: number, reason: string): void {
    this.active = { snapshotId, index };
    this.history.push({ index, snapshotId, reason });
    this.pending = undefined;
  }

  #isNeeded(id: string): boolean {
    return [this.active?.snapshotId, this.pending?.back, this.#underWay()?.snapshotId].includes(id);
  }

  #underWay() {
    return this.rollouts.find(({ state }) => state === 'running' || state === 'paused');
  }

  #rollout(command: RolloutCommand, index: number): Result['status'] {
    const { id, action } = command;
    if (action === 'start') {
      if (!this.items.some((item) => item.kind === 'snapshots' && item.id === command.snapshotId)) return 404;
      const isFree = this.#underWay() === undefined && !this.rollouts.some((one) => one.id === id);
      if (!isFree || this.pending !== undefined || this.active === undefined) return 409;
      if (this.active.snapshotId === command.snapshotId) return 409;
      const rollout = { id, snapshotId: command.snapshotId, state: 'running', step: 0, epoch: index };
      this.rollouts.push(rollout);
      this.#plans.set(id, command.plan);
      this.#enter(rollout, 0, index);
      return 200;
    }
    const rollout = this.rollouts.find((one) => one.id === id);
    if (rollout === undefined) return 404;
    const { state, epoch } = rollout;
    if (state !== 'running' && state !== 'paused') return 409;
    if ('epoch' in command && (state !== 'running' || command.epoch !== epoch)) return 409;
    if ((action === 'pause' && state === 'paused') || (action === 'resume' && state === 'running')) return 409;
    rollout.epoch = index;
    if (action === 'pause' || action === 'stall') rollout.state = 'paused';
    if (action === 'resume') rollout.state = 'running';
    if (action === 'abort') rollout.state = 'aborted';
    const plan = this.#plans.get(id);
    if (action === 'fail') rollout.state = plan?.onFail === 'pause' ? 'paused' : 'rolledBack';
    if (action === 'advance' || action === 'promote') {
      const isLast = action === 'promote' && command.finish === true;
      this.#enter(rollout, isLast ? (plan?.steps.length ?? 0) : rollout.step + 1, index);
    }
    return 200;
  }

  /** The end of the list, or all at once without a hold: it is active. */
  #enter(rollout: SlowModel['rollouts'][number], step: number, index: number): void {
    const steps = this.#plans.get(rollout.id)?.steps ?? [];
    const next = steps[step];
    rollout.state = 'running';
    rollout.step = step;
    if (next !== undefined && !('share' in next && next.share === 100 && next.holdMs === 0)) return;
    rollout.state = 'completed';
    rollout.step = steps.length - 1;
    if (!steps.every((each) => 'shadow' in each)) this.#live(rollout.snapshotId, index, 'rollout');
  }

  #before(): string | undefined {
    return this.history.filter(({ snapshotId }) => snapshotId !== this.active?.snapshotId).at(-1)?.snapshotId;
  }

  #revert(activation: number, index: number): Result['status'] {
    if (this.pending?.index !== activation) return 409;
    return this.#back(index, 'not confirmed', this.pending.back);
  }

  #back(index: number, reason: string, to: string | undefined): Result['status'] {
    if (!this.items.some(({ kind, id }) => kind === 'snapshots' && id === to)) return 409;
    this.#live(String(to), index, reason);
    return 200;
  }

  /** Executes a batch on copies; a failed one discards the copies. */
  #batch(command: Batch, index: number): Result['status'] {
    const before = { items: this.items, changedAt: this.changedAt };
    const status = this.#batchOnCopies(command, before, index);
    if (status !== 200) Object.assign(this, before);
    return status;
  }

  #batchOnCopies(
    { operations, owner, prune = [], ifMatch, snapshot }: Batch,
    before: { items: Item[]; changedAt: number },
    index: number,
  ): Result['status'] {
    if (Array.isArray(ifMatch) && !ifMatch.includes(this.changedAt)) return 412;
    const live = this.#liveContent();
    const met: string[] = [];
    for (const operation of operations) {
      const status = operation === undefined ? 400 : this.#write(operation, index, met, owner);
      if (status !== 200) return status;
    }
    for (const kind of prune) {
      const isLeft = (id: string, fields: Fields) =>
        owner !== undefined && fields.owner === owner && !met.includes(`${kind} ${id}`);
      for (const item of this.list(kind)) {
        if (!isLeft(item.id, fieldsOf(item))) continue;
        met.push(`${kind} ${item.id}`);
        this.items = this.items.filter((each) => each !== item);
        this.changedAt = index;
      }
      if (snapshot?.base === undefined || kind === 'secrets') continue;
      for (const body of live.lists[configKinds.indexOf(kind)] ?? []) {
        const { id } = body as { id: string };
        if (!isLeft(id, body as Fields) || this.#find(this.items, kind, id) !== undefined) continue;
        met.push(`${kind} ${id}`);
      }
    }
    const held = new Set(this.items.map(({ kind, name }) => `${kind} ${name}`));
    if (held.size < this.items.length) return 409;
    if (snapshot === undefined) return 200;
    const { id, name, values, checkedAt, base, keep } = snapshot;
    const isTaken =
      this.items.some((item) => item.kind === 'snapshots' && (item.id === id || item.name === name)) ||
      (snapshot.activate && this.#underWay() !== undefined);
    if (isTaken) return 409;
    const onLive = base === undefined ? undefined : this.#onLive(live, before.items, met, owner);
    if (onLive === 'conflict') return 409;
    if (checkedAt !== before.changedAt || (base !== undefined && base !== (this.active?.index ?? 0))) return 'moved';
    const body = this.#captured(values, onLive);
    if (body === undefined) return 'moved';
    this.#replace({ kind: 'snapshots', id, name, revision: index, body, writer: snapshot.owner });
    if (snapshot.activate) this.#live(id, index, 'activated');
    if (keep !== undefined) this.#keep(id, snapshot.owner, keep);
    return 200;
  }

  #liveContent(): Content {
    const active = this.#find(this.items, 'snapshots', this.active?.snapshotId ?? '');
    return (active?.body as Content | undefined) ?? { lists: configKinds.map(() => []), values: {} };
  }

  #find(items: readonly Item[], kind: Kind, id: string): Item | undefined {
    return items.find((item) => item.kind === kind && item.id === id);
  }

  /** Lists of what is live with the met entities as they are now, and the values that stay. */
  #onLive(
    live: Content,
    before: readonly Item[],
    met: readonly string[],
    owner: string | undefined,
  ): Content | 'conflict' {
    const values = { ...live.values };
    let lists = live.lists;
    for (const each of met) {
      const [kind, id = ''] = each.split(' ') as [EditableKind, string];
      const old = this.#find(before, kind, id);
      const now = this.#find(this.items, kind, id);
      const isOwn = owner !== undefined && old?.writer === owner;
      const reference = `{{secret:value:${id}}}`;
      const at = (configKinds as readonly EditableKind[]).indexOf(kind);
      const lived = lists[at]?.find((body) => (body as { id: string }).id === id);
      const isUnfinished =
        kind === 'secrets' ? values[reference] !== fieldsOf(old).value : !isDeepStrictEqual(old?.body, lived);
      if (isUnfinished && !isOwn && !isDeepStrictEqual(old?.body, now?.body)) return 'conflict';
      if (kind === 'secrets') delete values[reference];
      else {
        const others = (lists[at] ?? []).filter((body) => (body as { id: string }).id !== id);
        const list = now === undefined ? others : [...others, now.body];
        lists = lists.with(at, list);
      }
    }
    const idOf = (body: unknown): string => (body as { id: string }).id;
    lists = lists.map((list) => [...list].sort((a, b) => Buffer.compare(Buffer.from(idOf(a)), Buffer.from(idOf(b)))));
    const twice = lists.some((list) => new Set(list.map((body) => (body as { name: string }).name)).size < list.length);
    return twice ? 'conflict' : { lists, values };
  }

  #keep(id: string, owner: string | undefined, keep: number): void {
    const others = this.items.filter((item) => item.kind === 'snapshots' && item.writer === owner && item.id !== id);
    const old = others.sort((a, b) => a.revision - b.revision).slice(0, Math.max(0, others.length - keep + 1));
    this.items = this.items.filter((item) => !old.includes(item) || this.#isNeeded(item.id));
  }

  #discard({ owner, entities, ifMatch }: Discard, index: number): Result['status'] {
    if (Array.isArray(ifMatch) && !ifMatch.includes(this.changedAt)) return 412;
    const before = { items: this.items, changedAt: this.changedAt };
    const live = this.#liveContent();
    const isChosen = (kind: EditableKind, id: string, bodies: readonly Fields[]): boolean =>
      entities === undefined
        ? owner === undefined || bodies.some((body) => body.owner === owner)
        : entities.some(([one, other]) => one === kind && other === id);
    const restore = (kind: EditableKind, id: string, body: unknown): void => {
      const item = this.#find(this.items, kind, id);
      const bodies = [fieldsOf(item), (body ?? {}) as Fields];
      if (isDeepStrictEqual(item?.body, body) || !isChosen(kind, id, bodies)) return;
      this.items = this.items.filter((each) => each !== item);
      if (body !== undefined) this.#replace({ kind, id, name: (body as { name: string }).name, revision: index, body });
      this.changedAt = index;
    };
    for (const [at, kind] of configKinds.entries()) {
      const lived = new Map((live.lists[at] ?? []).map((body) => [(body as { id: string }).id, body]));
      for (const id of new Set([...lived.keys(), ...this.list(kind).map((item) => item.id)]))
        restore(kind, id, lived.get(id));
    }
    const value = live.values['{{secret:value:a}}'];
    if (value !== undefined) {
      const fields = this.#find(this.items, 'secrets', 'a')?.body ?? { id: 'a', name: 'a' };
      restore('secrets', 'a', { ...fields, value });
    }
    const held = new Set(this.items.map(({ kind, name }) => `${kind} ${name}`));
    if (held.size === this.items.length) return 200;
    Object.assign(this, before);
    return 409;
  }

  /** 200, or why not. */
  #write(operation: BatchOperation, index: number, met: string[], owner: string | undefined): Result['status'] {
    const { op, kind, by, ifMatch, missingOk } = operation;
    const spec = operation.spec?.fields;
    const name = operation.name ?? spec?.name;
    const isWritten = (item: Item): boolean => met.includes(`${kind} ${item.id}`);
    const holders = this.items.filter((item) => item.kind === kind && item.name === name);
    const holder = holders.find((item) => !isWritten(item)) ?? holders.at(-1);
    const named = by === 'name' && op !== 'create' ? holder : undefined;
    const id = named?.id ?? operation.id;
    if (id === undefined) return missingOk ? 200 : 404;
    if (met.includes(`${kind} ${id}`)) return 400;
    met.push(`${kind} ${id}`);
    const old = this.items.find((item) => item.kind === kind && item.id === id);
    if (op === 'delete' && old === undefined && missingOk) return 200;
    if ((op === 'delete' || op === 'update') && old === undefined) return 404;
    if (!this.#matches(op === 'create' ? undefined : old, ifMatch)) return 412;
    if (op === 'create' && old !== undefined) return 409;
    if (op === 'delete') this.items = this.items.filter((item) => item !== old);
    else {
      // One that is written already keeps its name to the end; another one may still get rid of it.
      if (holders.some((item) => item.id !== id && isWritten(item))) return 409;
      const stamped = { ...(owner !== undefined && { owner }), ...kept({ id, ...spec } as Fields, old) };
      if (op === 'upsert' && isDeepStrictEqual(old?.body, stamped)) return 200;
      this.#replace({ kind, id, name: String(name), revision: index, body: stamped, writer: owner });
    }
    this.changedAt = index;
    return 200;
  }

  #matches(old: Item | undefined, ifMatch: IfMatch | undefined): boolean {
    if (ifMatch === undefined) return true;
    return old !== undefined && (ifMatch === '*' || ifMatch.includes(old.revision));
  }

  #captured(given: Readonly<Record<string, string>>, content?: Content): Content | undefined {
    const lists = content?.lists ?? configKinds.map((kind: ConfigKind) => this.list(kind).map(({ body }) => body));
    const values: [string, unknown][] = [];
    for (const reference of ['{{secret:value:a}}', '{{secret:env:E}}']) {
      if (!JSON.stringify(lists).includes(reference)) continue;
      const secret = this.items.find(({ kind, id }) => kind === 'secrets' && id === 'a')?.body as
        | { value: string }
        | undefined;
      const fresh = reference.includes('env') ? given[reference] : secret?.value;
      const value = content?.values[reference] ?? fresh;
      if (value === undefined) return undefined;
      values.push([reference, value]);
    }
    return { lists, values: Object.fromEntries(values) };
  }

  #replace(item: Item): void {
    this.items = [...this.items.filter(({ kind, id }) => kind !== item.kind || id !== item.id), item];
  }
}
