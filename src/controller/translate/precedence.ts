// Order of matches as the Gateway API has it, as numbers for `route.priority`: host, path, method, headers, query. Matches
// that are equal in all of these are ordered by the names of their routes, which begin with the age of the object.

interface MatchWeight {
  /** 0…127: see `hostRank`. */
  readonly host: number;
  /** 0…2047: higher first. */
  readonly path: number;
  readonly hasMethod: boolean;
  readonly headers: number;
  readonly queryParams: number;
}

const countMax = 31;

export function priorityOf({ host, path, hasMethod, headers, queryParams }: MatchWeight): number {
  const parts: readonly (readonly [value: number, values: number])[] = [
    [host, 128],
    [path, 2048],
    [hasMethod ? 1 : 0, 2],
    [Math.min(headers, countMax), countMax + 1],
    [Math.min(queryParams, countMax), countMax + 1],
  ];
  return parts.reduce((sum, [value, values]) => sum * values + value, 0);
}

const exactPath = 2047;
const prefixMax = 2046;

/** Rank of a path: an exact one, then prefixes by their length, then regular expressions. */
export function pathRank(type: string, value: string): number {
  if (type === 'Exact') return exactPath;
  // A slash at the end does not count: `/a` and `/a/` match the same paths.
  return type === 'PathPrefix' ? Math.min(prefixMax, value.replace(/\/+$/, '').length + 1) : 0;
}

/** Rank of a gRPC method: a whole one, then services, then methods of any service, then anything. */
export function grpcRank(service: string | undefined, method: string | undefined, isExact: boolean): number {
  const given = (service === undefined ? 0 : 2) + (method === undefined ? 0 : 1);
  return given * 2 + (isExact ? 1 : 0);
}

interface Aged {
  readonly metadata: { readonly namespace?: string; readonly name: string; readonly creationTimestamp?: string };
}

/** Number of a rule or match, so that text sorts as numbers do. */
const numbered = (n: number): string => String(n).padStart(3, '0');

/** Name of a route in Sluice: of two of one priority the name that sorts first wins. */
export const routeName = ({ metadata }: Aged, ...numbers: readonly number[]): string =>
  [
    ...(metadata.creationTimestamp === undefined ? [] : [metadata.creationTimestamp]),
    `${metadata.namespace}/${metadata.name}`,
    numbers.map(numbered).join('.'),
  ].join(' ');
