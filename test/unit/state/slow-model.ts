// What the state machine is supposed to do, written as plainly as possible: lists, searches, copies, nothing clever.
import { type ConfigKind, configKinds, type Kind } from '../../../src/model/kinds.ts';
import type { Command, Result } from '../../../src/state/command.ts';

interface Item {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly revision: number;
  readonly body: unknown;
}

export class SlowModel {
  items: Item[] = [];
  changedAt = 0;
  active: string | undefined;
  #ackedBelow = 1;
  readonly #answers = new Map<number, Result['status']>();
  readonly #keys = new Map<string, { bodyHash: string; status: Result['status'] }>();

  apply(command: Command, index: number): Result['status'] {
    const { seq, ackedBelow } = command.requestId;
    this.#ackedBelow = Math.max(this.#ackedBelow, ackedBelow);
    if (seq < this.#ackedBelow) return 409;
    const known = this.#answers.get(seq);
    if (known !== undefined) return known;
    const status = this.#withKey(command, index);
    this.#answers.set(seq, status);
    return status;
  }

  list(kind: Kind): Item[] {
    return this.items
      .filter((item) => item.kind === kind)
      .sort((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
  }

  #withKey(command: Command, index: number): Result['status'] {
    const { idempotency } = command;
    if (idempotency === undefined) return this.#execute(command, index);
    const used = this.#keys.get(idempotency.scope);
    if (used !== undefined) return used.bodyHash === idempotency.bodyHash ? used.status : 422;
    const status = this.#execute(command, index);
    if (status !== 'moved') this.#keys.set(idempotency.scope, { bodyHash: idempotency.bodyHash, status });
    return status;
  }

  #execute(command: Command, index: number): Result['status'] {
    const kind = 'kind' in command ? command.kind : 'snapshots';
    const old = this.items.find((item) => item.kind === kind && item.id === command.id);
    const creates = command.op === 'capture' || (command.op === 'put' && command.mode === 'create');
    if (creates && old !== undefined) return 409;
    if (!creates && old === undefined) return 404;
    const match = 'ifMatch' in command ? command.ifMatch : undefined;
    if (!creates && Array.isArray(match) && !match.includes(old?.revision)) return 412;
    const name = command.op === 'put' ? String(command.spec.name) : command.op === 'capture' ? command.name : undefined;
    if (this.items.some((item) => item.kind === kind && item.name === name && item.id !== command.id)) return 409;
    switch (command.op) {
      case 'put':
        this.#replace({ kind, id: command.id, name: name ?? '', revision: index, body: command.spec });
        this.changedAt = index;
        return creates ? 201 : 200;
      case 'delete':
        if (kind === 'snapshots' && this.active === command.id) return 409;
        this.items = this.items.filter((item) => item !== old);
        if (kind !== 'snapshots') this.changedAt = index;
        return 204;
      case 'activate':
        this.active = command.id;
        return 200;
      case 'capture': {
        const body = this.#captured(command.values);
        if (command.checkedAt !== this.changedAt || body === undefined) return 'moved';
        this.#replace({ kind, id: command.id, name: name ?? '', revision: index, body });
        return 201;
      }
    }
  }

  #captured(given: Readonly<Record<string, string>>): unknown {
    const lists = configKinds.map((kind: ConfigKind) => this.list(kind).map(({ body }) => body));
    const values: [string, unknown][] = [];
    for (const reference of ['{{secret:value:a}}', '{{secret:env:E}}']) {
      if (!JSON.stringify(lists).includes(reference)) continue;
      const secret = this.items.find(({ kind, id }) => kind === 'secrets' && id === 'a')?.body as
        | { value: string }
        | undefined;
      const value = reference.includes('env') ? given[reference] : secret?.value;
      if (value === undefined) return undefined;
      values.push([reference, value]);
    }
    return { lists, values: Object.fromEntries(values) };
  }

  #replace(item: Item): void {
    this.items = [...this.items.filter(({ kind, id }) => kind !== item.kind || id !== item.id), item];
  }
}
