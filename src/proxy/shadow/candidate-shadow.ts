// Shadow of a candidate in one thread: requests that stable serves are matched against the candidate's table too, and
// the differences counted; nothing is sent anywhere (fleet.md §7).

import { shadowExamplesMax } from '../../model/shadow.ts';
import { type ShadowKind, shadowKinds } from '../../model/shadow-kinds.ts';
import type { ConsumerDirectory } from '../consumers/consumer-directory.ts';
import { consumerFinders } from '../consumers/consumer-finders.ts';
import type { ExchangeEntry } from '../exchange/entry.ts';
import type { PendingComparison, Shadow, ShadowSurroundings } from '../exchange/exchange-context.ts';
import { FieldEdits } from '../fields/field-edits.ts';
import type { RankedEntry } from '../match/route-entry.ts';
import type { RoutingTable } from '../match/routing-table.ts';
import type { ServedListeners } from '../match/served-listeners.ts';
import type { ExchangeRequest } from '../message/request.ts';
import { parameterNames } from '../requests/parameter-names.ts';
import { methodMax } from '../requests/request-ring.ts';
import type { Figures } from '../shared/figures.ts';
import type { ShareCell } from '../shared/share-cell.ts';
import type { Undecided } from './chain-decision.ts';
import type { FoundExample } from './example-log.ts';
import {
  type Around,
  compareSides,
  noDifference,
  type RequestDifference,
  type Side,
  type WantsExample,
} from './request-difference.ts';
import { ShadowExchange } from './shadow-exchange.ts';
import { ShadowRequest } from './shadow-request.ts';

export interface ShadowTools {
  readonly figures: Figures;
  /** Takes an example for main. */
  readonly onExample: (example: FoundExample) => void;
  /** From 0 up to 1. */
  readonly random: () => number;
}

export interface ShadowedCandidate {
  readonly rollout: string;
  readonly table: Pick<RoutingTable, 'match'>;
  readonly listeners: Pick<ServedListeners, 'at'>;
  readonly consumers: ConsumerDirectory;
  /** True when its rollout has ended. */
  readonly isOver: () => boolean;
}

const lostListener: RequestDifference = { kinds: ['lost'], what: ['listener'] };
const lostRoute: RequestDifference = { kinds: ['lost'], what: ['route'] };
const lostByError: RequestDifference = { kinds: ['lost'], what: ['error'] };
const gainedRoute: RequestDifference = { kinds: ['gained'], what: ['route'] };

export class CandidateShadow implements Shadow {
  readonly #candidate: ShadowedCandidate;
  readonly #stableConsumers: ConsumerDirectory;
  /** An equal list of both is one directory. */
  readonly #consumersDiffer: boolean;
  readonly #cell: ShareCell;
  readonly #tools: ShadowTools;
  /** Examples of each kind that may still be told. */
  readonly #left = shadowKinds.map(() => shadowExamplesMax);
  readonly #wantsExample: WantsExample = (kind) => (this.#left[shadowKinds.indexOf(kind)] ?? 0) > 0;
  #stableSide: ShadowExchange | undefined;
  #candidateSide: ShadowExchange | undefined;
  #own: Side | undefined;
  #other: Side | undefined;
  readonly #around: Around = { readsBodies: false, asksChain: false, wantsExample: this.#wantsExample };
  /** Requests until the next one that is compared. */
  #skip = 0;

  constructor(
    candidate: ShadowedCandidate,
    { consumers }: { readonly consumers: ConsumerDirectory },
    cell: ShareCell,
    tools: ShadowTools,
  ) {
    this.#candidate = candidate;
    this.#stableConsumers = consumers;
    this.#consumersDiffer = consumers !== candidate.consumers;
    this.#cell = cell;
    this.#tools = tools;
  }

  take(
    request: ExchangeRequest,
    entry: ExchangeEntry | undefined,
    surroundings: ShadowSurroundings,
  ): PendingComparison | undefined {
    if (this.#skip > 0) {
      this.#skip--;
      return undefined;
    }
    const { shadowSample } = this.#cell;
    if (shadowSample === 0) return undefined;
    // A gap that is not always the same: a rhythm of the traffic would decide which requests are compared.
    if (shadowSample > 1) this.#skip = Math.floor(this.#tools.random() * (2 * shadowSample - 1));
    const stable = entry as RankedEntry | undefined;
    const { edits } = request;
    if (this.#count(request, stable, edits, surroundings)) return undefined;
    const early = edits.empty ? noEdits : edits.copy();
    return {
      settle: () => {
        if (!this.#count(request, stable, early, surroundings)) this.#tools.figures.countUndecided();
      },
    };
  }

  /** Returns false for a comparison that waits for the body, which stable is going to read. */
  #count(
    request: ExchangeRequest,
    stable: RankedEntry | undefined,
    edits: FieldEdits,
    surroundings: ShadowSurroundings,
  ): boolean {
    if (this.#candidate.isOver()) return true;
    let result: RequestDifference | Undecided;
    let found: RankedEntry | undefined;
    try {
      const { request: shadowed } = this.#sideOf(request);
      const listener = surroundings.served(this.#candidate.listeners);
      shadowed.reset(request, listener && (listener.whole ?? listener.sectionOf(request.host)), edits);
      if (listener === undefined) result = stable === undefined ? noDifference : lostListener;
      else {
        found = this.#candidate.table.match(shadowed);
        result = this.#compare(request, stable, found, edits, surroundings, listener.bodyBytesMax);
      }
    } catch {
      // An expression of the candidate that throws ends no exchange of stable.
      result = 'later';
    }
    if (typeof result === 'string') {
      if (result === 'body' && stable?.links.some(({ needsBody }) => needsBody) && !request.view.hasBody) return false;
      this.#tools.figures.countUndecided();
      return true;
    }
    this.#tools.figures.countShadow(result.kinds);
    if (result.kinds.length > 0) this.#tell(result, request, stable, found);
    return true;
  }

  #compare(
    request: ExchangeRequest,
    stable: RankedEntry | undefined,
    found: RankedEntry | undefined,
    edits: FieldEdits,
    surroundings: ShadowSurroundings,
    bodyBytesMax: number,
  ): RequestDifference | Undecided {
    const readsBodies = surroundings.dataPlane.celBodyMaxSize > 0;
    const candidateSide = this.#sideOf(request);
    const { isExhausted, bodyWanted } = candidateSide.request;
    if (isExhausted) return stable === undefined ? noDifference : lostByError;
    if (bodyWanted && readsBodies) return 'body';
    const stableBytesMax = surroundings.settings().bodyBytesMax;
    const asksChain =
      stable !== undefined &&
      ((this.#consumersDiffer && findsConsumers(stable)) ||
        (stableBytesMax !== bodyBytesMax && request.bodyKind === 'length'));
    if (found === stable && !asksChain) return noDifference;
    if (found === undefined) return lostRoute;
    if (stable === undefined) return gainedRoute;
    this.#stableSide ??= new ShadowExchange(new ShadowRequest(request), this.#stableConsumers);
    this.#stableSide.request.reset(request, request.section, edits);
    this.#stableSide.bodyBytesMax = stableBytesMax;
    candidateSide.bodyBytesMax = bodyBytesMax;
    // Made once, as the exchanges are: most requests of a candidate that differs come here.
    this.#own ??= { entry: stable, exchange: this.#stableSide };
    this.#other ??= { entry: found, exchange: candidateSide };
    this.#own.entry = stable;
    this.#other.entry = found;
    this.#around.readsBodies = readsBodies;
    this.#around.asksChain = asksChain;
    return compareSides(this.#own, this.#other, this.#around);
  }

  #sideOf(request: ExchangeRequest): ShadowExchange {
    this.#candidateSide ??= new ShadowExchange(new ShadowRequest(request), this.#candidate.consumers);
    return this.#candidateSide;
  }

  #tell(
    { kinds, what }: RequestDifference,
    { method, host, path, query }: ExchangeRequest,
    from: RankedEntry | undefined,
    to: RankedEntry | undefined,
  ): void {
    if (!kinds.some(this.#wantsExample)) return;
    const told = kinds.filter((kind) => this.#spend(kind));
    this.#tools.onExample({
      rollout: this.#candidate.rollout,
      kinds: told,
      method: method.slice(0, methodMax),
      host,
      path,
      params: parameterNames(query),
      from: from && namesOf(from),
      to: to && namesOf(to),
      what,
    });
  }

  #spend(kind: ShadowKind): boolean {
    if (!this.#wantsExample(kind)) return false;
    const at = shadowKinds.indexOf(kind);
    this.#left[at] = (this.#left[at] ?? 0) - 1;
    return true;
  }
}

const findsConsumers = ({ links }: RankedEntry): boolean => links.some(({ type }) => consumerFinders.has(type));

const noEdits = new FieldEdits();

const namesOf = ({ route: { id, name } }: RankedEntry): { id: string; name: string } => ({ id, name });
