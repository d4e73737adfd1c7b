// Query parameters that reads and writes share: freshness of an answer, strictness with a body.
import { SluiceError } from '../errors.ts';
import { parseDuration } from '../model/duration.ts';
import { type Severity, severities } from '../model/severity.ts';
import { seesSecrets } from './caller.ts';
import { queryParameters } from './query-parameters.ts';
import type { ApiRequest } from './resource-answer.ts';

/** Longest text of each parameter that has a bound. */
const lengthMaxOf = new Map(
  Object.entries(queryParameters).flatMap(([name, { schema }]): [string, number][] =>
    'maxLength' in schema ? [[name, schema.maxLength]] : [],
  ),
);

export interface Freshness {
  /** `linearizable` sees every write acknowledged before the request; `stale` is what this node has. */
  readonly consistency: 'linearizable' | 'stale';
  /** Log index that the answer must have seen. */
  readonly minRevision: number;
}

const fieldValidations = ['warn', 'strict', 'ignore'] as const;

/** Treatment of unknown fields: named in a `Warning` header, refused, or dropped in silence. */
export type FieldValidation = (typeof fieldValidations)[number];

/** `?consistency=stale` and `?minRevision=`. Throws INVALID for other values. */
export function freshnessOf(request: ApiRequest): Freshness {
  const consistency = choice(request, 'consistency', ['linearizable', 'stale'] as const, 'linearizable');
  const minRevision = value(request, 'minRevision') ?? '0';
  if (!/^\d{1,15}$/.test(minRevision)) throw new SluiceError('INVALID', 'minRevision must be a revision: digits only');
  return { consistency, minRevision: Number(minRevision) };
}

/** `?fieldValidation=`. Throws INVALID for other values. */
export const fieldValidationOf = (request: ApiRequest): FieldValidation =>
  choice(request, 'fieldValidation', fieldValidations, 'warn');

/**
 * `?secrets=`: whether the answer has the values of secrets in it. Only when they are asked for, since answers end up in the
 * logs of pipelines. Throws INVALID for other values, FORBIDDEN when the caller may not see them.
 */
export function showsSecrets(request: ApiRequest): boolean {
  const isAsked = choice(request, 'secrets', ['references', 'resolved'] as const, 'references') === 'resolved';
  if (isAsked && !seesSecrets(request.caller)) {
    throw new SluiceError('FORBIDDEN', `role ${request.caller.role} may not read values of secrets`);
  }
  return isAsked;
}

/** A boolean parameter such as `?strict=true`; absent is false. Empty is neither: `?dryRun` alone must not write. */
export function flagOf(request: ApiRequest, name: string): boolean {
  refuseEmpty(request, name, 'one of true, false');
  return choice(request, name, ['true', 'false'] as const, 'false') === 'true';
}

/** Refuses an empty parameter that holds something back: a variable that is not set leaves it empty. Throws INVALID. */
export function refuseEmpty({ query }: ApiRequest, name: string, wanted: string): void {
  if (query[name] === '') throw new SluiceError('INVALID', `${name} must be ${wanted}`);
}

/** A parameter as text; undefined when it is absent or empty. Throws INVALID when it is given twice. */
export const textOf = (request: ApiRequest, name: string): string | undefined => value(request, name);

/** Filters of a list: `?owner=` and `?label=`, which may be given more than once. */
export interface ListFilter {
  readonly owner: string | undefined;
  /** `key` or `key=value`, all of which have to be there. */
  readonly labels: readonly string[];
}

/** Throws INVALID for filters that are empty, or an owner that is given twice: a variable that is not set must not widen a list. */
export function listFilterOf(request: ApiRequest): ListFilter {
  refuseEmpty(request, 'owner', 'the name of an owner');
  const labels = [request.query.label ?? []].flat();
  if (!labels.every((label) => typeof label === 'string' && label !== '')) {
    throw new SluiceError('INVALID', 'label must be key or key=value');
  }
  return { owner: value(request, 'owner'), labels: labels as string[] };
}

/** `?limit=` as text; undefined when it is absent. Empty is no number, here as on the admin port of a proxy. */
export function limitTextOf(request: ApiRequest): string | undefined {
  refuseEmpty(request, 'limit', 'a number from 1 to 10000');
  return value(request, 'limit');
}

/** A duration from `min` to `max` milliseconds, in whole ones; undefined when it is absent. Throws INVALID. */
export function durationOf(
  request: ApiRequest,
  name: string,
  { min, max, range }: { readonly min: number; readonly max: number; readonly range: string },
): number | undefined {
  const text = value(request, name);
  if (text === undefined) return undefined;
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined || milliseconds < min || milliseconds > max) {
    throw new SluiceError('INVALID', `${name} must be a duration from ${range}`);
  }
  return Math.round(milliseconds);
}

function choice<T extends string>(request: ApiRequest, name: string, allowed: readonly T[], absent: T): T {
  const text = value(request, name) ?? absent;
  const found = allowed.find((one) => one === text);
  if (found === undefined) throw new SluiceError('INVALID', `${name} must be one of ${allowed.join(', ')}`);
  return found;
}

/** Returns the text of a parameter, within the bound that the OpenAPI document has for it. */
function value({ query }: ApiRequest, name: string): string | undefined {
  const found = query[name];
  if (found === undefined || found === '') return undefined;
  if (typeof found !== 'string') throw new SluiceError('INVALID', `${name} must be given once`);
  const max = lengthMaxOf.get(name);
  if (max !== undefined && found.length > max) {
    throw new SluiceError('INVALID', `${name} must have at most ${max} characters`);
  }
  return found;
}

/** `?failOn=`; undefined when it is absent. Throws INVALID for other values, and an empty one, which would hold nothing back. */
export function failOnOf(request: ApiRequest): Severity | undefined {
  refuseEmpty(request, 'failOn', `one of ${severities.join(', ')}`);
  const text = value(request, 'failOn');
  return text === undefined ? undefined : choice(request, 'failOn', severities, 'error');
}
