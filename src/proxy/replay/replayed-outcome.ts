// Outcome of a recorded request under one configuration, and the difference between two outcomes.
import type { ChangedPart } from '../../model/answers/diff-answers.ts';
import type { RecordedRequest } from '../../model/recent-request.ts';
import { changedCredentials } from '../consumers/changed-credentials.ts';
import type { CredentialKind } from '../consumers/consumer-finders.ts';
import { namesHttps } from '../message/forwarded-scheme.ts';
import { consumerNeed } from './consumer-need.ts';
import { changesOf } from './entry-change.ts';
import { type PossibleWinner, possibleWinners } from './possible-winners.ts';
import { unknown } from './recorded-view.ts';
import { conditionsOf, type ReplayEntry } from './replay-entry.ts';
import type { ReplayTable } from './replay-table.ts';
import { type RecordedNames, ReplayedRequest } from './replayed-request.ts';

interface ReplayedOutcome {
  /** Routes that may serve it, in order; the last one does if none before it does. */
  readonly winners: readonly PossibleWinner[];
  /** No route serves it, and the answer is not `no_route`: the listener answers by itself. */
  readonly isAnswered: boolean;
  /** Request as the configuration sees it; absent where no table is asked. */
  readonly request?: ReplayedRequest;
}

const forwardedProto = 'x-forwarded-proto';

const noRoute: ReplayedOutcome = { winners: [{ entry: undefined, needs: undefined }], isAnswered: false };
const answered: ReplayedOutcome = { ...noRoute, isAnswered: true };

function outcomeUnder(config: ReplayTable, record: RecordedRequest, names: RecordedNames): ReplayedOutcome {
  const listener = config.listeners.get(record.listenerId);
  // Its clients reach no listener.
  if (listener === undefined || listener.scheme !== record.scheme) return noRoute;
  const request = new ReplayedRequest(record, names, listener.explained);
  if (listener.isStrict && record.error === 'misdirected_request') return answered;
  const proto = listener.redirects === 'insecure' ? request.fieldOf(forwardedProto) : undefined;
  if (listener.redirects !== 'none' && proto !== unknown && !namesHttps(proto)) return answered;
  const winners = possibleWinners(config.table, request);
  if (request.view.isExhausted) return answered;
  // The peer is not recorded: the field may be that of a client.
  const redirected = listener.redirects === 'insecure' ? [{ entry: undefined, needs: `header ${forwardedProto}` }] : [];
  return { winners: [...redirected, ...winners], isAnswered: false, request };
}

export type Change =
  | { readonly is: 'same' }
  | { readonly is: 'undecided'; readonly needs: string }
  /** Undefined: no route. */
  | { readonly is: 'moved'; readonly from: ReplayEntry | undefined; readonly to: ReplayEntry | undefined }
  | { readonly is: 'lost'; readonly from: ReplayEntry }
  | { readonly is: 'gained'; readonly to: ReplayEntry }
  | { readonly is: 'changed'; readonly to: ReplayEntry; readonly what: readonly ChangedPart[] };

const same: Change = { is: 'same' };
const undecided = (needs: string): Change => ({ is: 'undecided', needs });

export class Comparison {
  readonly #from: ReplayTable;
  readonly #to: ReplayTable;
  /** Differences of entries that were compared. */
  readonly #known = new Map<ReplayEntry, Map<ReplayEntry, readonly ChangedPart[]>>();

  /** Kinds of credentials that name other consumers. */
  readonly #credentials: ReadonlySet<CredentialKind>;

  private constructor(from: ReplayTable, to: ReplayTable, credentials: ReadonlySet<CredentialKind>) {
    this.#from = from;
    this.#to = to;
    this.#credentials = credentials;
  }

  /** In steps. */
  static *of(from: ReplayTable, to: ReplayTable): Generator<void, Comparison> {
    return new Comparison(from, to, yield* changedCredentials(from.consumers, to.consumers));
  }

  changeOf(record: RecordedRequest, names: RecordedNames): Change {
    // A request that could not be read is answered 400 by any configuration.
    if (record.method === '') return same;
    if (record.isCut) return undecided('path');
    if (this.#dependsOnHandshake(record)) return undecided('sni');
    const before = outcomeUnder(this.#from, record, names);
    const after = outcomeUnder(this.#to, record, names);
    const at = this.#firstDifference(before.winners, after.winners);
    const needs = neededAt(before.winners, after.winners, at);
    if (needs !== undefined) return undecided(needs);
    const [from, to] = [before.winners.at(-1)?.entry, after.winners.at(-1)?.entry];
    if (from === undefined && to === undefined) return same;
    if (from === undefined)
      return to === undefined || before.isAnswered ? { is: 'moved', from, to } : { is: 'gained', to };
    if (to === undefined) return after.isAnswered ? { is: 'moved', from, to } : { is: 'lost', from };
    if (from.route.id !== to.route.id) return { is: 'moved', from, to };
    const what = this.#onListener(record.listenerId, from, to, this.#between(from, to));
    if (what.length > 0) return { is: 'changed', to, what };
    const credential = this.#consumerNeed(after);
    return credential === undefined ? same : undecided(credential);
  }

  #consumerNeed({ winners, request }: ReplayedOutcome): string | undefined {
    for (const { entry } of winners) {
      const needs = entry && request && consumerNeed(entry, this.#credentials, request);
      if (needs !== undefined) return needs;
    }
    return undefined;
  }

  /** Adds the answers that a listener gives in the place of the route. */
  #onListener(id: string, from: ReplayEntry, to: ReplayEntry, what: readonly ChangedPart[]): readonly ChangedPart[] {
    const [before, after] = [this.#from.listeners.get(id), this.#to.listeners.get(id)];
    const isAlike =
      before?.errorPages === after?.errorPages &&
      (from.bodyBytesMax ?? before?.explained.bodyBytesMax) === (to.bodyBytesMax ?? after?.explained.bodyBytesMax);
    return isAlike || what.includes('answer') ? what : [...what, 'answer'];
  }

  /** Place of the first possible winner that is another one, or serves requests otherwise; -1: there is none. */
  #firstDifference(before: readonly PossibleWinner[], after: readonly PossibleWinner[]): number {
    const length = Math.max(before.length, after.length);
    for (let at = 0; at < length; at++) if (!this.#isSame(before[at], after[at])) return at;
    return -1;
  }

  #isSame(one: PossibleWinner | undefined, other: PossibleWinner | undefined): boolean {
    if (one === undefined || other === undefined || one.needs !== other.needs) return false;
    const [from, to] = [one.entry, other.entry];
    if (from === undefined || to === undefined) return from === to;
    if (from.route.id !== to.route.id || this.#between(from, to).length > 0) return false;
    return one.needs === undefined || conditionsOf(from) === conditionsOf(to);
  }

  #between(from: ReplayEntry, to: ReplayEntry): readonly ChangedPart[] {
    const known = this.#known.get(from) ?? new Map<ReplayEntry, readonly ChangedPart[]>();
    const what = known.get(to) ?? changesOf(from, to, this.#from.destinations, this.#to.destinations);
    this.#known.set(from, known.set(to, what));
    return what;
  }

  /** Returns whether another section may be asked for by the handshake, which may have become strict. */
  #dependsOnHandshake({ listenerId }: RecordedRequest): boolean {
    const [from, to] = [this.#from.listeners.get(listenerId), this.#to.listeners.get(listenerId)];
    return (from?.isStrict === true || to?.isStrict === true) && from?.settings !== to?.settings;
  }
}

/**
 * Returns what decides between two lists that differ at a place: the need of one there, or of one before; undefined: nothing
 * does.
 */
function neededAt(before: readonly PossibleWinner[], after: readonly PossibleWinner[], at: number): string | undefined {
  for (let place = at; place >= 0; place--) {
    const needs = before[place]?.needs ?? after[place]?.needs;
    if (needs !== undefined) return needs;
  }
  return undefined;
}
