// The view that readers keep while the state behind it is replaced by one from a checkpoint.
import type { ActivationRecord } from '../model/answers/activation-record.ts';
import type { CookieKeys } from '../model/cookie-keys.ts';
import type { Drains } from '../model/drained-endpoint.ts';
import type { EditableKind, Kind } from '../model/kinds.ts';
import type { ManagedKeys } from '../model/managed-keys.ts';
import type { BatchWrites, Idempotency, Result } from './command.ts';
import type { PendingConfirmation } from './history.ts';
import type { Rollout } from './rollout.ts';
import type { Active, Rehearsal, StateView, Stored, StoredSnapshot, WantedSnapshot } from './view.ts';

export class CurrentView implements StateView {
  readonly #current: () => StateView;

  constructor(current: () => StateView) {
    this.#current = current;
  }

  get applied(): number {
    return this.#current().applied;
  }

  get changedAt(): number {
    return this.#current().changedAt;
  }

  get hash(): string {
    return this.#current().hash;
  }

  get active(): Active | undefined {
    return this.#current().active;
  }

  get activations(): readonly ActivationRecord[] {
    return this.#current().activations;
  }

  get pending(): PendingConfirmation | undefined {
    return this.#current().pending;
  }

  get drains(): Drains {
    return this.#current().drains;
  }

  get cookieKeys(): CookieKeys {
    return this.#current().cookieKeys;
  }

  get managedKeys(): ManagedKeys {
    return this.#current().managedKeys;
  }

  get rollouts(): readonly Rollout[] {
    return this.#current().rollouts;
  }

  get(kind: EditableKind, id: string): Stored | undefined {
    return this.#current().get(kind, id);
  }

  list(kind: EditableKind): readonly Stored[] {
    return this.#current().list(kind);
  }

  snapshot(id: string): StoredSnapshot | undefined {
    return this.#current().snapshot(id);
  }

  snapshots(): readonly StoredSnapshot[] {
    return this.#current().snapshots();
  }

  rehearse(writes: BatchWrites, snapshot?: WantedSnapshot): Generator<void, Rehearsal> {
    return this.#current().rehearse(writes, snapshot);
  }

  answered(idempotency: Idempotency): Result | undefined {
    return this.#current().answered(idempotency);
  }

  revision(kind: Kind, id: string): number | undefined {
    return this.#current().revision(kind, id);
  }
}
