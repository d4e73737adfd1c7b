// Sources of API keys in a request: a header, a parameter of the query, a cookie. What one source reads, it also removes.
import { parametersOf } from '../../../expression/cel/value-view.ts';
import type { ApiKeySources } from '../../../model/middleware/api-key-options.ts';
import type { LoneExchange } from '../../exchange/phase.ts';
import { protectedHeaders } from '../protected-headers.ts';

/** Parts of a request that keys are read from. */
export interface KeyCarrier {
  /** Without the question mark. */
  readonly query: string;
  header(lowerName: string): string | undefined;
  headers(): Iterable<readonly [lowerName: string, value: string]>;
}

export interface KeySource {
  /** Returns the keys that the request brings there; none that is empty. */
  read(request: KeyCarrier): readonly string[];
  /** Keeps the keys from later middlewares and the upstream. */
  remove(exchange: LoneExchange): void;
  /** Returns the same removal for an explanation: the header that changes, or the query that is left. */
  removal(request: KeyCarrier): { readonly name: string; readonly value: string | null } | { readonly query: string };
}

/** Throws where there is none: any request would lack its key. */
export function compileKeySources({ header, query, cookie }: ApiKeySources): readonly KeySource[] {
  const sources = [
    ...(header === undefined ? [] : [headerSource(header)]),
    ...(query === undefined ? [] : [querySource(query)]),
    ...(cookie === undefined ? [] : [cookieSource(cookie)]),
  ];
  if (sources.length === 0) throw new Error('sources must have one of header, query, cookie');
  return sources;
}

const none: readonly string[] = [];
const isPresent = (key: string): boolean => key !== '';

function headerSource(name: string): KeySource {
  const lower = name.toLowerCase();
  const lines = protectedHeaders([name]);
  const keyOf = lower === 'authorization' ? withoutScheme : (value: string): string => value;
  return {
    read(request) {
      const value = request.header(lower);
      if (value === undefined) return none;
      const values = value.includes(', ') ? linesOf(request, lower) : [value];
      return values.map(keyOf).filter(isPresent);
    },
    remove: (exchange) => lines.strip(exchange),
    removal: () => ({ name, value: null }),
  };
}

/** Values of the lines one by one: a key may have a comma. */
function linesOf(request: KeyCarrier, lower: string): string[] {
  const values: string[] = [];
  for (const [name, value] of request.headers()) if (name === lower) values.push(value);
  return values;
}

/** In Authorization a scheme stands before the key (RFC 9110 §11.4). */
const withoutScheme = (value: string): string => value.replace(/^(?:bearer|apikey) +/i, '');

function querySource(name: string): KeySource {
  const isKey = (parameter: string): boolean => parametersOf(parameter).has(name);
  const without = (query: string): string =>
    query
      .split('&')
      .filter((parameter) => !isKey(parameter))
      .join('&');
  return {
    read: ({ query }) => (query === '' ? none : parametersOf(query).getAll(name).filter(isPresent)),
    remove(exchange) {
      const query = exchange.upstreamQuery ?? exchange.request.query;
      const left = without(query);
      if (left !== query) exchange.setUpstreamQuery(left);
    },
    removal: ({ query }) => ({ query: without(query) }),
  };
}

function cookieSource(name: string): KeySource {
  return {
    read(request) {
      const cookies = request.header('cookie');
      if (cookies === undefined) return none;
      const keys = new Set<string>();
      eachCookie(cookies, name, (_from, end, valueAt) => {
        if (valueAt >= 0) keys.add(cookies.slice(valueAt, end).trim());
      });
      return [...keys].filter(isPresent);
    },
    remove(exchange) {
      const cookies = exchange.request.header('cookie');
      const left = cookies === undefined ? cookies : withoutCookie(cookies, name);
      if (left === '') exchange.removeRequestField('Cookie');
      else if (left !== undefined && left !== cookies) exchange.setRequestField('Cookie', left);
    },
    removal(request) {
      const left = withoutCookie(request.header('cookie') ?? '', name);
      return { name: 'Cookie', value: left === '' ? null : left };
    },
  };
}

/** Returns the cookies of a field but those of that name, as they were sent. */
function withoutCookie(cookies: string, name: string): string {
  let left = '';
  let keptFrom = 0;
  eachCookie(cookies, name, (from, end, valueAt) => {
    if (valueAt < 0) return;
    left += cookies.slice(keptFrom, from);
    keptFrom = end + 1;
  });
  if (keptFrom === 0) return cookies;
  left += cookies.slice(keptFrom);
  let from = 0;
  let to = left.length;
  while (from < to && isBetween(left.charCodeAt(from))) from++;
  while (to > from && isBetween(left.charCodeAt(to - 1))) to--;
  return left.slice(from, to);
}

const [semicolon, equals] = [0x3b, 0x3d];
const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;
/** Returns whether a character stands between cookies. */
const isBetween = (code: number): boolean => code === semicolon || isBlank(code);

/**
 * Visits the cookies of a field: bounds of each, and where the value of one of that name begins, -1 for others. A field has room
 * for a million.
 */
function eachCookie(cookies: string, name: string, visit: (from: number, end: number, valueAt: number) => void): void {
  for (let from = 0; from < cookies.length; ) {
    let end = from;
    while (end < cookies.length && cookies.charCodeAt(end) !== semicolon) end++;
    visit(from, end, valueIn(cookies, from, end, name));
    from = end + 1;
  }
}

function valueIn(cookies: string, from: number, end: number, name: string): number {
  const at = afterBlanks(cookies, from);
  if (!cookies.startsWith(name, at)) return -1;
  const equalsAt = afterBlanks(cookies, at + name.length);
  return equalsAt < end && cookies.charCodeAt(equalsAt) === equals ? equalsAt + 1 : -1;
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (isBlank(text.charCodeAt(at))) at++;
  return at;
}
