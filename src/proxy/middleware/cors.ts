// Middleware type cors (contract.md §8.1): tells browsers which origins may read responses, and answers their
// preflights. It protects only against browsers, not against other clients.
import { compileRegex } from '../../expression/regex.ts';
import { corsDefaults } from '../../model/defaults.ts';
import type { AllowOrigin, CorsConfig } from '../../model/middleware/cors-options.ts';
import type { LocalReply, LoneExchange, LonePhases, MiddlewarePhases } from '../exchange/phase.ts';
import { fieldText, listElements, readableText } from '../fields/field-lines.ts';
import type { DryRun } from './dry-run.ts';
import type { TemplateRequest } from './request-template.ts';

/** Names and values in turn. */
type Flat = readonly string[];

export function buildCors(config: CorsConfig = {}): MiddlewarePhases & { readonly dryRun: DryRun } {
  const { allowOrigins = [] } = config;
  const allows = compileOrigins(allowOrigins);
  const onEvery = everyResponse(config);
  const onPreflight = preflightOnly(config);
  const refusesPreflights = allowOrigins.length > 0;
  const allowedIn = (request: TemplateRequest): string | undefined => {
    const origin = request.header('origin');
    // An origin holds no comma: several lines name none.
    return origin !== undefined && !origin.includes(',') && allows(origin) ? origin : undefined;
  };
  const alone: LonePhases = {
    onRequest(exchange, slot) {
      const { request } = exchange;
      const origin = allowedIn(request);
      if (origin === undefined) {
        if (!refusesPreflights || request.header('origin') === undefined) return undefined;
        if (isPreflight(request)) return refusal;
        exchange.state[slot] = notAllowed;
        return undefined;
      }
      if (request.method === 'OPTIONS') return preflight(origin, onEvery, onPreflight(request));
      exchange.state[slot] = origin;
      return undefined;
    },
    onResponse(exchange, slot) {
      const { edits } = exchange.response;
      if (!variesByOrigin(exchange)) edits.append('Vary', 'Origin');
      const origin = exchange.state[slot];
      if (origin === notAllowed) for (const name of grants) edits.remove(name);
      if (typeof origin !== 'string') return undefined;
      edits.set(allowOriginName, origin);
      for (let i = 0; i < onEvery.length; i += 2) edits.set(onEvery[i] ?? '', onEvery[i + 1] ?? '');
      return undefined;
    },
  };
  return {
    dryRun: (request) =>
      (request.method === 'OPTIONS' && allowedIn(request) !== undefined) || (refusesPreflights && isPreflight(request))
        ? { answers: 204 }
        : {},
    alone,
    ...alone,
  };
}

const allowOriginName = 'Access-Control-Allow-Origin';

/** State of an exchange whose origin is not on the list. */
const notAllowed = Symbol('not allowed');

/** Fields by which an upstream would allow an origin by itself, in lower case. */
const grants = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-private-network',
  'access-control-expose-headers',
  'access-control-max-age',
];

const requestMethodName = 'access-control-request-method';
const requestHeadersName = 'access-control-request-headers';

/** Returns whether a browser asks for permission, by what every such request has (Fetch, CORS-preflight request). */
const isPreflight = (request: TemplateRequest): boolean =>
  request.method === 'OPTIONS' &&
  request.header('origin') !== undefined &&
  request.header(requestMethodName) !== undefined;

/** Answer to a preflight of an origin that is not on the list: it allows nothing. */
const refusal: LocalReply = { status: 204, fields: ['Vary', 'Origin'], body: '' };

function preflight(origin: string, onEvery: Flat, onPreflight: Flat): LocalReply {
  return {
    status: 204,
    fields: [allowOriginName, origin, ...onEvery, ...onPreflight, 'Vary', 'Origin'],
    body: '',
  };
}

function everyResponse({ allowCredentials = corsDefaults.allowCredentials, exposeHeaders = [] }: CorsConfig): Flat {
  return [
    ...(allowCredentials ? ['Access-Control-Allow-Credentials', 'true'] : []),
    ...listed('Access-Control-Expose-Headers', exposeHeaders),
  ];
}

function preflightOnly(config: CorsConfig): (request: TemplateRequest) => Flat {
  const { allowMethods = [], allowHeaders = [], maxAge = corsDefaults.maxAge } = config;
  const methods = granted('Access-Control-Allow-Methods', allowMethods, requestMethodName, config);
  const headers = granted('Access-Control-Allow-Headers', allowHeaders, requestHeadersName, config);
  const age = maxAge > 0 ? ['Access-Control-Max-Age', String(maxAge)] : [];
  return (request) => [...methods(request), ...headers(request), ...age];
}

/**
 * Returns the list, or with `*` and credentials the requested value: browsers take `*` for no wildcard then (Fetch,
 * CORS protocol and credentials).
 */
function granted(
  name: string,
  values: readonly string[],
  requestedBy: string,
  { allowCredentials = corsDefaults.allowCredentials }: CorsConfig,
): (request: TemplateRequest) => Flat {
  const fixed = listed(name, values);
  if (!allowCredentials || !values.includes('*')) return () => fixed;
  return (request) => {
    const requested = request.header(requestedBy);
    return requested === undefined ? [] : [name, requested, 'Vary', requestedBy];
  };
}

const listed = (name: string, values: readonly string[]): Flat =>
  values.length === 0 ? [] : [name, fieldText(values.join(', '))];

/** Compiles the test whether an origin, as it was sent, is allowed. */
function compileOrigins(origins: readonly AllowOrigin[]): (origin: string) => boolean {
  const exact = new Set(origins.filter(({ regex }) => regex !== true).map(({ value }) => fieldText(value)));
  if (exact.has('*')) return () => true;
  const patterns = origins.filter(({ regex }) => regex === true).map(({ value }) => compileRegex(value));
  return (origin) => exact.has(origin) || patterns.some((pattern) => pattern.matchesWhole(readableText(origin)));
}

/** Returns whether the response already has a Vary field for the origin. */
function variesByOrigin({ response: { lines, edits } }: LoneExchange): boolean {
  if (edits.removes('vary')) return isOrigin(edits.added('vary'));
  for (let line = 0; line < lines.count; line++) {
    if (lines.name(line).toLowerCase() === 'vary' && isOrigin(lines.value(line))) return true;
  }
  return isOrigin(edits.added('vary'));
}

const isOrigin = (vary: string | undefined): boolean =>
  vary !== undefined && listElements(vary).some((name) => name.toLowerCase() === 'origin');
