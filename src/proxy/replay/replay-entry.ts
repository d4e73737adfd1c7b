// Entry of the table that recorded requests are matched against: matchers that ask for what may not be recorded are one
// matcher, of three values.
import { compileCel } from '../../expression/cel/compiled-program.ts';
import type { Multiple } from '../../model/matcher.ts';
import type { Matcher } from '../match/request-matcher.ts';
import type { RankedEntry } from '../match/route-entry.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import type { ReplayedRequest } from './replayed-request.ts';

/** A text names what is not recorded, and what the result depends on: `header x-tenant`. */
type Decided = boolean | string;

type Judge = (request: ReplayedRequest) => Decided;

export interface ReplayEntry extends RankedEntry {
  /**
   * Returns what the entry needs of a request and is not recorded; undefined: it is decided without it. Absent where the entry
   * never needs such a thing.
   */
  readonly needs?: (request: ReplayedRequest) => string | undefined;
  /** Matchers of the entry that this one stands for. */
  readonly asked?: readonly Matcher[];
}

/** All conditions of an entry beside host and path, to be compared. */
export const conditionsOf = ({ matchers, asked = matchers }: ReplayEntry): string =>
  asked.map(({ kind, wanted }) => `${kind} ${wanted}`).join('\n');

/**
 * Returns the entry for recorded requests; other requests must not be matched against it. An entry whose matchers ask for
 * nothing that may be missing is its own.
 */
export function replayEntry(entry: RankedEntry): ReplayEntry {
  const { matchers } = entry;
  if (!matchers.some(({ kind }) => asking.has(kind))) return entry;
  const judges = judgesOf(entry);
  if (judges.length === 0) return entry;
  const certain = matchers.filter(({ kind }) => !asking.has(kind));
  const decide = (request: ReplayedRequest): Decided => decided(judges, request);
  const made: ReplayEntry = {
    ...partsOf(entry),
    asked: matchers,
    matchers: [
      ...certain,
      undecidedMatcher((request) => decide(request) === true || isPossible(made, decide, request)),
    ],
    needs(request) {
      const result = decide(request);
      return typeof result === 'string' ? result : undefined;
    },
  };
  return made;
}

const isPossible = (entry: ReplayEntry, decide: Judge, request: ReplayedRequest): boolean =>
  typeof decide(request) === 'string' && !request.passedOver.has(entry);

/** Spreads a lazy entry too, whose action is a property of its class. */
const partsOf = (entry: RankedEntry): RankedEntry => ({
  ...entry,
  get action() {
    return entry.action;
  },
});

const asking: ReadonlySet<Matcher['kind']> = new Set(['header', 'query', 'grpc', 'cel']);

const undecidedMatcher = (test: (request: ReplayedRequest) => boolean): Matcher => ({
  kind: 'cel',
  needsBody: false,
  wanted: '',
  test: (request: RoutedRequest) => test(request as ReplayedRequest),
  found: () => undefined,
});

/** One that says no decides; otherwise the first that cannot tell. */
function decided(judges: readonly Judge[], request: ReplayedRequest): Decided {
  let result: Decided = true;
  for (const judge of judges) {
    const each = judge(request);
    if (each === false) return false;
    if (result === true) result = each;
  }
  return result;
}

interface Compared {
  readonly name: string;
  readonly value?: string;
  readonly multiple?: Multiple;
}

/** Matchers stand in the order of the fields that they are made of. */
function judgesOf({ matchers, route, group }: RankedEntry): readonly Judge[] {
  const headers: readonly Compared[] = [...(group?.headers ?? []), ...(route.match?.headers ?? [])];
  const params: readonly Compared[] = route.match?.queryParams ?? [];
  const [headersLeft, paramsLeft] = [headers.values(), params.values()];
  return matchers.flatMap((matcher) => {
    if (matcher.kind === 'grpc') return [fieldJudge(matcher, { name: 'content-type', value: 'application/grpc' })];
    if (matcher.kind === 'cel') return [expressionJudge(matcher)];
    const of =
      matcher.kind === 'header' ? headersLeft.next() : matcher.kind === 'query' ? paramsLeft.next() : undefined;
    if (of?.value === undefined) return [];
    return [matcher.kind === 'header' ? fieldJudge(matcher, of.value) : parameterJudge(matcher, of.value)];
  });
}

function fieldJudge(matcher: Matcher, { name, value, multiple = 'joined' }: Compared): Judge {
  const lower = name.toLowerCase();
  const need = `header ${lower}`;
  // The port of the authority is not recorded.
  if (lower === 'host') return () => need;
  return (request) => {
    const has = request.hasField(lower);
    if (has === undefined) return need;
    if (value === undefined || !has) return has;
    const found = request.fieldOf(lower);
    if (typeof found !== 'string') return need;
    // Lines are recorded as one.
    if (multiple !== 'joined' && lower !== 'cookie' && found.includes(',')) return need;
    return matcher.test(request);
  };
}

function parameterJudge(matcher: Matcher, { name, value, multiple = 'first' }: Compared): Judge {
  const need = `query ${name}`;
  return (request) => {
    const has = request.hasParameter(name);
    if (has === undefined) return need;
    if (value === undefined || !has) return has;
    if (typeof request.parameterOf(name) !== 'string') return need;
    return multiple !== 'first' && !request.isSingle(name) ? need : matcher.test(request);
  };
}

function expressionJudge({ wanted }: Matcher): Judge {
  const program = compileCel(wanted, 'request', 'bool');
  return (request) => {
    const { view } = request;
    if (view.isExhausted) return false;
    view.needs = undefined;
    const decision = program.decide(view);
    if (typeof decision === 'boolean') return decision;
    if (view.needs !== undefined) return view.needs;
    if (decision === 'exhausted') view.isExhausted = true;
    return false;
  };
}
