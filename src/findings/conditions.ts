// Conditions of an entry beside path, hosts and methods, as texts that are alike where the conditions are.
import type { HeaderMatcher, Multiple, QueryParamMatcher } from '../model/matcher.ts';
import type { RankedEntry } from '../proxy/match/route-entry.ts';

export interface Conditions {
  /** Sorted. */
  readonly own: readonly string[];
  /** Those and what follows from them. */
  readonly implied: ReadonlySet<string>;
}

/** Texts of conditions that a listener meets for all of its requests. */
export const conditionTexts = {
  scheme: (scheme: string) => `scheme ${scheme}`,
  port: (port: number) => `port ${port}`,
} as const;

export function conditionsOf({ route, group }: RankedEntry): Conditions {
  const { headers = [], queryParams = [], grpc, scheme, port, cel } = route.match ?? {};
  const all = [...(group?.headers ?? []), ...headers];
  if (
    all.length + queryParams.length === 0 &&
    grpc !== true &&
    scheme === undefined &&
    port === undefined &&
    cel === undefined
  )
    return none;
  const implied = new Set<string>();
  const own = new Set<string>();
  const add = (text: string, ...followed: readonly string[]): void => {
    own.add(text);
    for (const each of [text, ...followed]) implied.add(each);
  };
  for (const header of headersOf({ route, group })) add(keyOf('header', header), ...presenceOf('header', header));
  for (const param of queryParams) add(keyOf('query', param), ...presenceOf('query', param));
  if (grpc === true) add('grpc');
  if (scheme !== undefined) add(conditionTexts.scheme(scheme));
  if (port !== undefined) add(conditionTexts.port(port));
  if (cel !== undefined) add(`cel ${cel}`);
  return { own: [...own].sort(), implied };
}

/** Header matchers of group and route, with names in lower case. */
export const headersOf = ({ route, group }: Pick<RankedEntry, 'route' | 'group'>): readonly HeaderMatcher[] =>
  [...(group?.headers ?? []), ...(route.match?.headers ?? [])].map((each) => ({
    ...each,
    name: each.name.toLowerCase(),
  }));

/** Methods in upper case; undefined: all. */
export const methodsOf = ({ route }: RankedEntry): readonly string[] | undefined => {
  const { methods = [] } = route.match ?? {};
  return methods.length === 0 ? undefined : methods.map((method) => method.toUpperCase());
};

/** Returns whether no request meets both: they ask for different values of one field, or for different methods. */
export function excludeEachOther(one: RankedEntry, other: RankedEntry): boolean {
  const [methods, others] = [methodsOf(one), methodsOf(other)];
  if (methods !== undefined && others !== undefined && !methods.some((each) => others.includes(each))) return true;
  const [match, otherMatch] = [one.route.match ?? {}, other.route.match ?? {}];
  return (
    differ(match.scheme, otherMatch.scheme) ||
    differ(match.port, otherMatch.port) ||
    valuesDiffer(headersOf(one), headersOf(other), 'joined') ||
    valuesDiffer(match.queryParams ?? [], otherMatch.queryParams ?? [], 'first')
  );
}

const none: Conditions = { own: [], implied: new Set() };

type FieldMatcher = HeaderMatcher | QueryParamMatcher;

const defaultOf = { header: 'joined', query: 'first' } as const;

function keyOf(kind: 'header' | 'query', { name, value, regex, multiple }: FieldMatcher): string {
  return JSON.stringify([
    kind,
    name,
    value ?? null,
    value !== undefined && regex === true,
    multiple ?? defaultOf[kind],
  ]);
}

/** A field with a value is there; one that may be repeated to be refused need not have any one value. */
function presenceOf(kind: 'header' | 'query', { name, value, multiple }: FieldMatcher): readonly string[] {
  if (value === undefined || multiple === 'reject') return [];
  return [keyOf(kind, { name, ...(multiple !== undefined && { multiple }) } as FieldMatcher)];
}

const differ = (one: unknown, other: unknown): boolean => one !== undefined && other !== undefined && one !== other;

/** Values are compared where both look at the whole of a field. */
function valuesDiffer(ones: readonly FieldMatcher[], others: readonly FieldMatcher[], whole: Multiple): boolean {
  const isExact = ({ value, regex, multiple = whole }: FieldMatcher) =>
    value !== undefined && regex !== true && multiple === whole;
  return ones.some(
    (one) =>
      isExact(one) && others.some((other) => isExact(other) && one.name === other.name && one.value !== other.value),
  );
}
