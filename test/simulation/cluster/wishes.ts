// Wishes of clients of the simulated cluster: resources created, changed and deleted, snapshots captured and
// activated, over so few ids and names that they collide.

import type { Chance } from '../../../raft/testing/sim/chance.ts';
import type { Draft, Idempotency } from '../../../src/state/command.ts';
import { type OperationDraft, OperationLines } from '../../../src/state/operation-lines.ts';
import { isUnderWay } from '../../../src/state/rollout.ts';
import { SpecText } from '../../../src/state/spec-text.ts';
import type { StateView } from '../../../src/state/view.ts';
import { rolloutPlan } from './fleet.ts';
import type { Tagged } from './ledger.ts';

export interface Wish {
  readonly tag: number;
  /** The register that it writes; `none` for everything else. */
  readonly register: number;
  readonly draft: Draft & Tagged;
}

export const registers = 5;
export const noRegister = -1;

const registerId = (register: number): string => `register-${register}`;
const keyShare = 0.7;

export class Wishes {
  readonly #chance: Chance;
  readonly #keys: Idempotency[] = [];
  #tags = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** The number of something that is no write. */
  newTag(): number {
    this.#tags += 1;
    return this.#tags;
  }

  /** Draws the next request of a client that sees this state. */
  next(view: StateView): Wish {
    const tag = this.newTag();
    const draw = this.#chance.fraction();
    if (draw < 0.4) return this.#write(tag, view);
    if (draw < 0.6) return this.#create(tag);
    if (draw < 0.7) return this.#replace(tag, view);
    if (draw < 0.8) return this.#remove(tag, view);
    if (draw < 0.88) return this.#capture(tag, view);
    if (draw < 0.94) return this.#batch(tag, view);
    return this.#activate(tag, view);
  }

  /**
   * Routes that others want too, all or nothing. Either a register is written with them, or they are captured: what came
   * too late for its capture is asked for once more, and so may be decided after it was answered. A register has no key, for
   * a key after its day would write it again.
   */
  #batch(tag: number, view: StateView): Wish {
    const isCaptured = this.#chance.happens(0.3);
    const register = isCaptured ? noRegister : this.#chance.below(registers);
    const operations: OperationDraft[] = isCaptured ? [] : [upsertOf(registerId(register), registerId(register), tag)];
    for (let at = this.#chance.below(4); at > 0; at -= 1) {
      operations.push({ ...upsertOf(`route-of-${tag}-${at}`, `name ${this.#chance.below(8)}`, tag), by: 'name' });
    }
    if (this.#chance.happens(0.3))
      operations.push({ op: 'delete', kind: 'routes', by: 'id', id: this.#anyRoute(view) });
    const createdAt = new Date(Date.UTC(2026, 0, 1) + tag).toISOString();
    const captured = { id: `snapshot-${tag}`, name: `snapshot ${this.#chance.below(5)}`, createdAt, values: {} };
    const snapshot = { ...captured, checkedAt: view.changedAt, activate: this.#chance.happens(0.5) };
    return wish(tag, register, {
      op: 'batch',
      id: captured.id,
      operations: OperationLines.of(operations),
      ...(isCaptured && { snapshot, ...this.#key(tag) }),
    });
  }

  /** A register holds the number of the write that came last. */
  #write(tag: number, view: StateView): Wish {
    const register = this.#chance.below(registers);
    const id = registerId(register);
    const mode = view.get('routes', id) === undefined ? 'create' : 'update';
    return wish(tag, register, { op: 'put', kind: 'routes', id, mode, spec: textOf(id, id, tag) });
  }

  #create(tag: number): Wish {
    const id = this.#chance.happens(0.5) ? `route-${this.#chance.below(6)}` : `route-of-${tag}`;
    const name = `name ${this.#chance.below(8)}`;
    const draft = { op: 'put', kind: 'routes', id, mode: 'create', spec: textOf(id, name, tag) } as const;
    return wish(tag, noRegister, { ...draft, ...this.#key(tag) });
  }

  #replace(tag: number, view: StateView): Wish {
    const id = this.#chance.happens(0.2) ? 'route-0' : this.#anyRoute(view);
    const known = view.get('routes', id);
    const ifMatch = known !== undefined && this.#chance.happens(0.3) ? { ifMatch: [known.revision] } : {};
    const name = known?.name ?? `name ${this.#chance.below(8)}`;
    return wish(tag, noRegister, {
      op: 'put',
      kind: 'routes',
      id,
      mode: 'update',
      spec: textOf(id, name, tag),
      ...ifMatch,
    });
  }

  #remove(tag: number, view: StateView): Wish {
    const snapshots = view.snapshots();
    if (snapshots.length > 0 && this.#chance.happens(0.4))
      return wish(tag, noRegister, { op: 'delete', kind: 'snapshots', id: this.#chance.pick(snapshots).id });
    return wish(tag, noRegister, { op: 'delete', kind: 'routes', id: this.#anyRoute(view) });
  }

  #capture(tag: number, view: StateView): Wish {
    const name = `snapshot ${this.#chance.below(5)}`;
    const createdAt = new Date(Date.UTC(2026, 0, 1) + tag).toISOString();
    const draft = { op: 'capture', id: `snapshot-${tag}`, name, createdAt, checkedAt: view.changedAt, values: {} };
    return wish(tag, noRegister, { ...draft, ...this.#key(tag) } as Draft);
  }

  /** Activates a snapshot, for good or until its confirmation fails to come; or rolls back. */
  #activate(tag: number, view: StateView): Wish {
    const { pending } = view;
    if (pending !== undefined && this.#chance.happens(0.5)) {
      const { snapshotId: id, index: activation } = pending;
      const draft: Draft = this.#chance.happens(0.5) ? { op: 'confirm', id } : { op: 'revert', id, activation };
      return wish(tag, noRegister, draft);
    }
    if (this.#chance.happens(0.4)) return this.#rollout(tag, view);
    if (this.#chance.happens(0.15)) return wish(tag, noRegister, { op: 'rollback', id: `rollback-${tag}` });
    const snapshots = view.snapshots();
    const id = snapshots.length === 0 ? 'snapshot-0' : this.#chance.pick(snapshots).id;
    const force = this.#chance.happens(0.2) && { force: true as const };
    const within = this.#chance.happens(0.4) ? { confirmWithin: 1 + this.#chance.below(20_000) } : {};
    return wish(tag, noRegister, { op: 'activate', id, ...force, ...within, ...this.#key(tag) });
  }

  /** Begins a rollout, or moves the one that is under way. */
  #rollout(tag: number, view: StateView): Wish {
    const rollout = view.rollouts.at(-1);
    if (rollout !== undefined && isUnderWay(rollout)) {
      const moves = ['pause', 'resume', 'resume', 'abort', 'promote'] as const;
      return wish(tag, noRegister, { op: 'rollout', id: rollout.id, action: this.#chance.pick(moves) });
    }
    const snapshots = view.snapshots();
    const snapshotId = snapshots.length === 0 ? 'snapshot-0' : this.#chance.pick(snapshots).id;
    const plan = rolloutPlan(this.#chance);
    return wish(tag, noRegister, { op: 'rollout', action: 'start', id: `rollout-${tag}`, snapshotId, plan });
  }

  #anyRoute(view: StateView): string {
    const routes = view.list('routes').filter(({ id }) => id.startsWith('route-'));
    return routes.length === 0 ? 'route-0' : this.#chance.pick(routes).id;
  }

  /** Draws an idempotency key, now and then that of another client. */
  #key(tag: number): { idempotency?: Idempotency } {
    if (!this.#chance.happens(keyShare)) return {};
    const used = this.#keys.length > 0 && this.#chance.happens(0.05) ? this.#chance.pick(this.#keys) : undefined;
    const idempotency = { scope: used?.scope ?? `client\n/\nkey-${tag}`, bodyHash: `body-${tag}` };
    this.#keys.push(idempotency);
    return { idempotency };
  }
}

/** The number of the write that a register shows; 0 when it was never written. */
export function registerValue(view: StateView, register: number): number {
  const response = view.get('routes', registerId(register))?.spec.directResponse as { body: string } | undefined;
  return response === undefined ? 0 : Number(response.body);
}

const specOf = (id: string, name: string, tag: number) => ({
  id,
  name,
  directResponse: { status: 200, body: String(tag) },
});

const textOf = (...of: Parameters<typeof specOf>): SpecText => new SpecText(specOf(...of));

function upsertOf(id: string, name: string, tag: number): OperationDraft {
  const { id: _, ...spec } = specOf(id, name, tag);
  return { op: 'upsert', kind: 'routes', by: 'id', id, spec };
}

function wish(tag: number, register: number, draft: Draft): Wish {
  return { tag, register, draft: { ...draft, tag, isRepeatable: draft.idempotency !== undefined } };
}
