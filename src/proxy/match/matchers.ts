// Matchers beside host and path (contract.md §6.3), in the order in which they are tried: cheap before expensive,
// expressions last. Serving and explaining use the same objects.
import { type CelProgram, compileCel } from '../../expression/cel/compiled-program.ts';
import type { RequestView } from '../../expression/cel/value-view.ts';
import { compileRegex, type Regex } from '../../expression/regex.ts';
import type { HeaderMatcher, QueryParamMatcher } from '../../model/matcher.ts';
import { fieldText, readableText } from '../fields/field-lines.ts';
import { isGrpc } from '../message/grpc.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import type { Matcher } from './request-matcher.ts';
import { severalMatcher } from './several-matcher.ts';

/** Any of them; methods of requests are compared as they are (RFC 9110 §9.1). */
export function methodsMatcher(methods: readonly string[]): Matcher {
  const allowed = new Set(methods.map((method) => method.toUpperCase()));
  return {
    kind: 'methods',
    needsBody: false,
    wanted: [...allowed].join(', '),
    test: ({ method }) => allowed.has(method),
    found: ({ method }) => method,
  };
}

export const grpcMatcher: Matcher = {
  kind: 'grpc',
  needsBody: false,
  wanted: 'content-type beginning with application/grpc',
  test: isGrpc,
  found: (request) => request.header('content-type'),
};

/** Matcher of requests that came under TLS to this listener, or of those that did not. */
export const schemeMatcher = (wanted: 'http' | 'https'): Matcher => ({
  kind: 'scheme',
  needsBody: false,
  wanted,
  test: ({ scheme }) => scheme === wanted,
  found: ({ scheme }) => scheme,
});

/** Matcher of requests on listeners with that port. */
export function portMatcher(port: number): Matcher {
  const wanted = BigInt(port);
  return {
    kind: 'port',
    needsBody: false,
    wanted: String(port),
    test: ({ section }) => section?.listener.port === wanted,
    found: ({ section }) => section && String(section.listener.port),
  };
}

/** Bytes from which on a search for a pattern is paid for, as in expressions (expressions.md §5.1). */
const longMin = 64 * 1024;

/** Pays for a search of a pattern in so many bytes; false where the request cannot. */
const pays = (bytes: number, { view }: Pick<RoutedRequest, 'view'>): boolean => bytes < longMin || view.pay(bytes >> 6);

/**
 * All lines of the field count as one value, unless the matcher says otherwise; an empty one is as good as none. `host` is
 * the authority. Lines of `cookie` are one value in any case: HTTP/2 may split it (RFC 9113 §8.2.3).
 */
export function headerMatcher({ name, value, regex, multiple }: HeaderMatcher): Matcher {
  const lower = name.toLowerCase();
  if (multiple !== undefined && multiple !== 'joined' && lower !== 'host' && lower !== 'cookie') {
    const agrees = fieldComparison(value, regex);
    return severalMatcher({
      kind: 'header',
      multiple,
      wanted: described(lower, value, regex),
      valuesOf: (request) => linesOf(request, lower),
      agrees: (found) => found !== '' && agrees(found),
      ...(regex === true && { pays }),
      shown: readableText,
    });
  }
  const agrees = fieldComparison(value, regex);
  const read = lower === 'host' ? hostHeader : (request: RoutedRequest) => request.header(lower);
  return {
    kind: 'header',
    needsBody: false,
    wanted: described(lower, value, regex),
    found(request) {
      const found = read(request);
      return found === undefined ? undefined : readableText(found);
    },
    test(request) {
      const found = read(request);
      if (found === undefined || found === '') return false;
      return (regex !== true || pays(found.length, request)) && agrees(found);
    },
  };
}

/** The first value of the parameter, decoded, unless the matcher says otherwise; without a value to compare with, an empty one counts as there. */
export function queryMatcher({ name, value, regex, multiple }: QueryParamMatcher): Matcher {
  const agrees = comparison(value, regex);
  if (multiple !== undefined && multiple !== 'first') {
    return severalMatcher({
      kind: 'query',
      multiple,
      wanted: described(name, value, regex),
      valuesOf: ({ view }) => view.queryValuesOf(name) ?? none,
      agrees,
      shown: (found) => found,
    });
  }
  const read = ({ view }: RoutedRequest): string | undefined => view.queryParam(name);
  return {
    kind: 'query',
    needsBody: false,
    wanted: described(name, value, regex),
    found: read,
    test(request) {
      const found = read(request);
      return found !== undefined && agrees(found);
    },
  };
}

export function celMatcher(source: string): Matcher {
  const program: CelProgram<RequestView> = compileCel(source, 'request', 'bool');
  return {
    kind: 'cel',
    needsBody: program.needsBody,
    wanted: source,
    test: ({ view }) => {
      if (view.isExhausted) return false;
      if (program.needsBody && !view.hasBody) view.bodyWanted = true;
      const decision = program.decide(view);
      if (decision === 'exhausted') view.isExhausted = true;
      return view.pay(program.stepsTaken) && decision === true;
    },
    found: ({ view }) => {
      const decision = program.decide(view);
      return decision === 'exhausted' ? 'takes too many steps' : decision === 'error' ? 'an error' : String(decision);
    },
  };
}

const none: readonly string[] = [];

function linesOf(request: RoutedRequest, lowerName: string): readonly string[] {
  const values: string[] = [];
  for (const [name, value] of request.headers()) if (name === lowerName) values.push(value);
  return values;
}

const hostHeader = (request: RoutedRequest): string => request.authority;

function comparison(value: string | undefined, isRegex: boolean | undefined): (found: string) => boolean {
  if (value === undefined) return () => true;
  if (isRegex !== true) return (found) => found === value;
  const regex: Regex = compileRegex(value);
  return (found) => regex.test(found);
}

/** Values are compared byte by byte, as they travel; a pattern looks at their text. */
function fieldComparison(value: string | undefined, isRegex: boolean | undefined): (found: string) => boolean {
  if (value === undefined || isRegex !== true) return comparison(value && fieldText(value), false);
  const matches = comparison(value, true);
  return (found) => matches(readableText(found));
}

function described(name: string, value: string | undefined, isRegex: boolean | undefined): string {
  if (value === undefined) return `${name} present`;
  return isRegex === true ? `${name} ~ ${value}` : `${name} = ${JSON.stringify(value)}`;
}
