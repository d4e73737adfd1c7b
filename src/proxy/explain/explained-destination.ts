// Choice of an endpoint for a request, with the reasons against the others: by the balancers that serve, over the state
// that is known now (contract.md §7.6).

import type { EndpointStatus } from '../../model/answers/endpoint-answers.ts';
import type { ExplainedDestination, ExplainedEndpoint } from '../../model/answers/explained-outcome.ts';
import type { CircuitState } from '../../model/circuit-states.ts';
import type { CookieResult } from '../../model/cookie-keys.ts';
import type { Destination } from '../../model/destination.ts';
import { readableText } from '../fields/field-lines.ts';
import { crc32 } from '../upstream/balance/crc32.ts';
import { type HashPolicyPlan, type HashSource, hashText } from '../upstream/balance/hash-key.ts';
import { HashRing } from '../upstream/balance/hash-ring.ts';
import { ringMembers } from '../upstream/balance/keyed-choice.ts';
import { MaglevTable } from '../upstream/balance/maglev-table.ts';
import { balancingPlan } from '../upstream/destination-plan.ts';
import { type EndpointAddress, endpointsOf } from '../upstream/endpoint-address.ts';
import { placementMark } from '../upstream/session/placements.ts';
import { cookieIn } from '../upstream/session/session-cookie.ts';
import { type SignedCookies, type SignedLevel, signedLevel } from '../upstream/session/signed-cookies.ts';
import type { Discovered } from '../upstream/upstreams.ts';
import type { ExplainedRequest } from './explained-request.ts';

export interface KnownEndpoint {
  readonly healthy: boolean;
  readonly ejected: boolean;
  /** An operator wants it to get no new requests. */
  readonly drained?: boolean;
  /** Why its last health check failed. */
  readonly reason?: string;
}

/** State that the running proxy knows; empty for a configuration that it does not run. */
export interface KnownStates {
  readonly discovered: Discovered;
  endpoint(destination: string, endpoint: string): KnownEndpoint | undefined;
  /** Endpoints of an active destination; undefined for any other. */
  endpointsOf(destination: string): readonly EndpointStatus[] | undefined;
  /** Signed session cookies of the process; absent: it has none. */
  readonly signed?: SignedCookies | undefined;
  /** Active destinations. */
  destinationIds(): readonly string[];
  /** Name of an active destination. */
  nameOf(destination: string): string | undefined;
  circuit(destination: string): CircuitState | undefined;
}

export const nothingKnown: KnownStates = {
  discovered: new Map(),
  endpoint: () => undefined,
  endpointsOf: () => undefined,
  destinationIds: () => [],
  nameOf: () => undefined,
  circuit: () => undefined,
};

const endpointsMax = 100;

export function* explainDestination(
  destination: Destination,
  weight: number,
  request: ExplainedRequest,
  known: KnownStates,
): Generator<void, ExplainedDestination> {
  const { id, options } = destination;
  const addresses = endpointsOf(destination, known.discovered.get(destination.id));
  const endpoints = servingEndpoints(destination.id, addresses, known);
  const serving = endpoints.filter(({ serves }) => serves);
  const plan = balancingPlan(options);
  const source = new QuestionSource(request);
  const hashed = plan.algorithm === 'RING_HASH' || plan.algorithm === 'MAGLEV' || plan.algorithm === 'STICKY';
  const read = readSigned(known.signed, signedLevel('destination', id, plan), request);
  const isHashed = hashed && (read === undefined || hashedResults.includes(read.result));
  const text = isHashed ? settledText(plan.policies, id, source) : undefined;
  const serves = Uint8Array.from(endpoints, (endpoint) => (endpoint.serves ? 1 : 0));
  let endpoint: string | null = null;
  if (serving.length === 1) endpoint = serving[0]?.name ?? null;
  else if (serving.length > 1 && text !== undefined) {
    const table =
      plan.algorithm === 'MAGLEV'
        ? yield* MaglevTable.build(addresses, plan.tableSize)
        : yield* HashRing.build(ringMembers(addresses, plan.ringSizeMin));
    endpoint = endpoints[table.owner(crc32(text), serves)]?.name ?? null;
  }
  const cookie = read && serving.length > 1 ? signedResult(read, addresses, serves) : undefined;
  if (cookie?.endpoint !== undefined) endpoint = endpoints[cookie.endpoint]?.name ?? null;
  const circuit = options?.circuitBreaker === undefined ? undefined : known.circuit(id);
  return {
    id,
    weight,
    exists: true,
    available: serving.length > 0,
    ...(circuit !== undefined && { circuit }),
    algorithm: plan.algorithm,
    ...(text !== undefined && { hashed: readableText(text), key: crc32(text) }),
    ...(cookie !== undefined && { cookie: cookie.result }),
    endpoint,
    endpoints: endpoints.slice(0, endpointsMax),
    ...(endpoints.length > endpointsMax && { endpointsLeftOut: endpoints.length - endpointsMax }),
  };
}

/** Results of a signed cookie that leave the choice to the hash of its value. */
const hashedResults: readonly CookieResult[] = ['unsigned', 'unkeyed'];

/** Value of a signed cookie as it reads here, with the mark of its target where it leads to one. */
export interface ReadCookie {
  readonly result: CookieResult;
  readonly mark?: number;
}

/** Undefined where no signed cookie decides. `kept`: its target is still to be found. */
export function readSigned(
  cookies: SignedCookies | undefined,
  level: SignedLevel | undefined,
  request: ExplainedRequest,
): ReadCookie | undefined {
  if (level === undefined) return undefined;
  if (cookies?.isKeyed !== true) return { result: 'unkeyed' };
  const value = carriedSession(request, level.name);
  if (value === '') return { result: 'new' };
  const opened = cookies.open(level.name, value);
  const found = typeof opened === 'string' ? opened : cookies.placementIn(opened, level.scope);
  return typeof found === 'string' ? { result: found } : { result: 'kept', mark: found.mark };
}

/** Result once the endpoints are known, with the place of the one that the cookie leads to. */
function signedResult(
  { result, mark }: ReadCookie,
  addresses: readonly EndpointAddress[],
  serves: Uint8Array,
): { readonly result: CookieResult; readonly endpoint?: number } {
  if (mark === undefined) return { result };
  const place = addresses.findIndex(({ name }, at) => serves[at] === 1 && placementMark(name) === mark);
  return place < 0 ? { result: 'moved' } : { result, endpoint: place };
}

const unknownEndpoint: KnownEndpoint = { healthy: true, ejected: false };

function servingEndpoints(
  destination: string,
  addresses: readonly EndpointAddress[],
  known: KnownStates,
): ExplainedEndpoint[] {
  const states = addresses.map(({ name }) => known.endpoint(destination, name) ?? unknownEndpoint);
  const available = addresses.filter(
    (_, i) => states[i]?.healthy === true && !states[i]?.ejected && states[i]?.drained !== true,
  );
  const lowest = Math.min(...available.map(({ priority }) => priority));
  return addresses.map(({ label: name, weight, priority }, i) => {
    const because = reasonOf(states[i]);
    const serves = because === 'priority' && priority === lowest;
    const reason = because === 'unhealthy' ? states[i]?.reason : undefined;
    return { name, weight, priority, serves, ...(!serves && { because }), ...(reason !== undefined && { reason }) };
  });
}

function reasonOf(state: ReturnType<KnownStates['endpoint']>): NonNullable<ExplainedEndpoint['because']> {
  if (state?.drained === true) return 'drained';
  if (state?.healthy === false) return 'unhealthy';
  return state?.ejected === true ? 'ejected' : 'priority';
}

/** Undefined when the key is that of a session which only the request itself would begin. */
function settledText(policies: readonly HashPolicyPlan[], salt: string, source: QuestionSource): string | undefined {
  const text = hashText(policies, salt, source);
  return source.wouldBegin ? undefined : text;
}

class QuestionSource implements HashSource {
  readonly clientIp: string;
  wouldBegin = false;
  readonly #request: ExplainedRequest;

  constructor(request: ExplainedRequest) {
    this.#request = request;
    this.clientIp = request.clientIp;
  }

  header(lowerName: string): string | undefined {
    return this.#request.header(lowerName);
  }

  session(name: string): string {
    const carried = carriedSession(this.#request, name);
    if (carried === '') this.wouldBegin = true;
    return carried || 'new';
  }
}

/** Value of the cookie in the question; empty when there is none. */
export function carriedSession(request: ExplainedRequest, name: string): string {
  for (const [field, value] of request.headers()) {
    const found = field === 'cookie' ? cookieIn(value, name) : '';
    if (found !== '') return found;
  }
  return '';
}
