// Parts that several importers make alike.
import { checkRegex } from '../../../expression/regex.ts';
import type { ImportedDestination, ImportedMiddleware, ImportedRoute, ModelFields } from '../intermediate.ts';
import type { Statement } from '../statement.ts';

/** Duration of seconds, fractions allowed. */
export const seconds = (count: number): string => `${Number(count.toFixed(3))}s`;

const sizeUnits: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Bytes of a size of nginx such as `20m`; undefined where it is none. */
export function bytesOf(text: string | undefined): number | undefined {
  const [, count, unit = ''] = /^(\d+)([kmg]?)$/i.exec(text ?? '') ?? [];
  return count === undefined ? undefined : Number(count) * (sizeUnits[unit.toLowerCase()] ?? 1);
}

/** Limit of nginx for bodies of requests where a file names none. */
export const nginxBodyBytesMax = 2 ** 20;

/** Lesser of two limits of bodies, 0 and absence being none. */
export const lesserLimit = (a: number | undefined, b: number | undefined): number | undefined =>
  a && b ? Math.min(a, b) : a || b || (a ?? b);

/** Rank of a host pattern: exact before the longest wildcard, and any host last. */
export function hostRank(host: string | undefined): readonly [number, number] {
  if (host === undefined || host === '' || host === '*') return [0, 0];
  return host.startsWith('*.') ? [1, host.length] : [2, 0];
}

/** Answers 404 for what no other route of a host takes, so that routes of any host do not. */
export const nothingElse = (
  from: Statement,
  host: string,
  rank: readonly number[],
  rest: Partial<ImportedRoute> = {},
): ImportedRoute => ({
  name: `${host}-otherwise`,
  from,
  hosts: [host],
  rank,
  middlewares: [],
  directResponse: { status: 404 },
  ...rest,
});

export const middleware = (from: Statement, name: string, type: string, block: ModelFields): ImportedMiddleware => ({
  from,
  name,
  type,
  block,
});

/** Balancing that keeps a client where its cookie says. It is signed, so that no store is needed; `0s`: until the browser closes. */
export const stickyBy = (name: string, ttl = '0s'): ModelFields => ({
  algorithm: 'STICKY',
  sticky: { cookie: { name, ttl, signed: true } },
});

/** Note for a cookie by which another program keeps clients. */
export const ownCookie = 'the cookie is one of Sluice, HttpOnly for all paths: clients are placed once more';

const inRange = (cidr: string): string =>
  `cidr("${cidr.includes('/') ? cidr : `${cidr}/${cidr.includes(':') ? 128 : 32}`}").containsIP(request.clientIp)`;

/** Condition that the client is in one of the ranges. */
export const clientIn = (cidrs: readonly string[]): string => cidrs.map(inRange).join(' || ');

/** Lets in clients of these ranges alone, with the answer 403 for others. */
export const allowing = (from: Statement, name: string, cidrs: readonly string[]): ImportedMiddleware =>
  middleware(from, name, 'inlineAuthz', { rules: [{ cel: clientIn(cidrs), action: 'allow' }], defaultAction: 'deny' });

export const denying = (from: Statement, name: string, cidrs: readonly string[]): ImportedMiddleware =>
  middleware(from, name, 'inlineAuthz', { rules: [{ cel: clientIn(cidrs), action: 'deny' }], defaultAction: 'allow' });

/** One address or range. */
export const isCidr = (text: string): boolean => /^[0-9a-fA-F.:]+(\/\d{1,3})?$/.test(text) && /[.:]/.test(text);

/** Location as host, port and path; undefined where it is no URL of http. */
export function urlParts(text: string):
  | {
      readonly isSecure: boolean;
      /** HTTP/2 in cleartext. */
      readonly isH2c: boolean;
      readonly host: string;
      readonly port: number;
      readonly path: string;
      readonly hasPath: boolean;
    }
  | undefined {
  const [, scheme, host, port, path = ''] =
    /^(https?|h2c|wss?):\/\/(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?(\/\S*)?$/.exec(text) ?? [];
  if (scheme === undefined || host === undefined) return undefined;
  const isSecure = scheme === 'https' || scheme === 'wss';
  return {
    isSecure,
    isH2c: scheme === 'h2c',
    host,
    port: port === undefined ? (isSecure ? 443 : 80) : Number(port),
    path: path || '/',
    hasPath: path !== '',
  };
}

/** Destination of one address. */
export const destination = (
  from: Statement,
  name: string,
  host: string,
  port: number,
  options: ModelFields = {},
): ImportedDestination => ({
  from,
  name,
  fields: { host, port, ...(Object.keys(options).length > 0 && { options }) },
});

/** Header to set, whose value is sent as it is written. */
export const literalHeader = (key: string, value: string): ModelFields => ({
  key,
  value,
  ...(value.includes('${') && { interpolate: false }),
});

/** Problem of an expression for RE2, or undefined. */
export const regexProblem = (pattern: string): string | undefined => {
  const problem = checkRegex(pattern);
  return problem === undefined ? undefined : `RE2 does not take the expression: ${problem}`;
};

export const celText = (text: string): string => JSON.stringify(text);

/** Denies every request: what stood here let only some pass, and has no counterpart. */
export const closed = (from: Statement, name: string): ImportedMiddleware =>
  middleware(from, name, 'inlineAuthz', { rules: [{ cel: 'true', action: 'deny' }], defaultAction: 'deny' });

/** Host without brackets, and port; undefined where the text is neither. */
export function hostAndPort(
  text: string,
  usualPort: number,
): { readonly host: string; readonly port: number } | undefined {
  const [, host, port] = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  return host === undefined
    ? undefined
    : { host: host.replace(/^\[|\]$/g, ''), port: port === undefined ? usualPort : Number(port) };
}
