// Reader of the agreed state, as fresh as the request asks for (architecture.md §6.4). Every operation starts here.
import type { ReplicatedLog } from '../cluster/log/replicated-log.ts';
import { SluiceError } from '../errors.ts';
import { type Kind, nounOf } from '../model/kinds.ts';
import type { StateView } from '../state/view.ts';
import { freshnessOf } from './query.ts';
import type { ApiRequest } from './resource-answer.ts';

/** Milliseconds that a read waits for `?minRevision=`; writes wait as long for a leader (contract.md §5.2). */
const revisionWaitMs = 10_000;

export type ReadMode = 'linearizable' | 'min_revision' | 'stale';

export interface StateReaderParts {
  readonly view: StateView;
  readonly log: ReplicatedLog;
  /** Called for each read of resources; for metrics. */
  readonly counted?: (mode: ReadMode) => void;
}

export class StateReader {
  readonly view: StateView;
  readonly #log: ReplicatedLog;
  readonly #counted: (mode: ReadMode) => void;

  constructor({ view, log, counted = () => undefined }: StateReaderParts) {
    this.view = view;
    this.#log = log;
    this.#counted = counted;
  }

  /** Resolves once the view is as fresh as the request asks. Rejects with INVALID or UNAVAILABLE. */
  async catchUp(request: ApiRequest): Promise<void> {
    const { consistency, minRevision } = freshnessOf(request);
    this.#counted(consistency === 'stale' && minRevision > 0 ? 'min_revision' : consistency);
    if (minRevision > this.view.applied) await this.#waitFor(minRevision);
    else if (consistency === 'linearizable') await this.#log.readBarrier();
  }

  /** Waits for a revision. Asks the leader first: a revision that no node has is refused at once. */
  async #waitFor(minRevision: number): Promise<void> {
    const last = await this.#log.readBarrier();
    if (minRevision > last) {
      throw new SluiceError('INVALID', `minRevision ${minRevision} does not exist: the last revision is ${last}`);
    }
    await this.#log.appliedAtLeast(minRevision, revisionWaitMs);
  }

  /** Resolves once the view has everything that was acknowledged before the call. */
  async barrier(): Promise<void> {
    await this.#log.readBarrier();
  }

  /** For writes: looks here first, and asks the cluster only when the resource is missing. Rejects with NOT_FOUND. */
  async mustExist(kind: Kind, id: string): Promise<void> {
    if (this.view.revision(kind, id) !== undefined) return;
    await this.#log.readBarrier();
    if (this.view.revision(kind, id) === undefined) throw notFound(kind, id);
  }
}

export const notFound = (kind: Kind, id: string): SluiceError =>
  new SluiceError('NOT_FOUND', `${nounOf(kind)} ${JSON.stringify(id)} not found`);
