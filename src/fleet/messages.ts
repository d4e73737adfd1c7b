// Messages in which a proxy speaks of itself, read and bounded (fleet.md §4). A proxy has a key of its own at most, so its
// words are bounded: they are kept in memory and shown to others.
import { SluiceError } from '../errors.ts';
import {
  type Acknowledgement,
  type ListenerReport,
  latencyBuckets,
  messageLimits,
  type TrafficWindow,
} from '../model/fleet-messages.ts';
import type { Problem } from '../model/problem.ts';

export interface AcknowledgementMessage extends Acknowledgement {
  readonly token: string;
  readonly boot: string;
}

export interface ReportMessage {
  readonly token: string;
  readonly boot: string;
  readonly window: readonly TrafficWindow[];
}

type Json = Readonly<Record<string, unknown>>;

/** Throws INVALID. */
export function acknowledgementOf(body: Json): AcknowledgementMessage {
  return {
    ...addressOf(body),
    index: uint(body, 'index'),
    sha256: text(body, 'sha256', messageLimits.sha256),
    of: oneOf(body, 'of', ['stable', 'candidate'] as const),
    state: oneOf(body, 'state', ['installed', 'refused'] as const),
    tookMs: amount(body, 'tookMs'),
    problems: list(body, 'problems', messageLimits.problems).map(problemOf),
    listeners: list(body, 'listeners', messageLimits.listeners).map(listenerOf),
  };
}

/** Throws INVALID. */
export function reportOf(body: Json): ReportMessage {
  return { ...addressOf(body), window: list(body, 'window', messageLimits.windows).map(windowOf) };
}

const addressOf = (body: Json): { token: string; boot: string } => ({
  token: text(body, 'token', messageLimits.token),
  boot: text(body, 'boot', messageLimits.boot),
});

const problemOf = (each: Json): Problem => ({
  pointer: text(each, 'pointer', messageLimits.prose),
  message: text(each, 'message', messageLimits.prose),
});

const listenerOf = (each: Json): ListenerReport => ({
  id: text(each, 'id', messageLimits.id),
  state: oneOf(each, 'state', ['open', 'waiting', 'failed'] as const),
  ...(each.reason !== undefined && { reason: text(each, 'reason', messageLimits.prose) }),
});

function windowOf(each: Json): TrafficWindow {
  const { rollout, latency } = each;
  if (rollout !== null && typeof rollout !== 'string') throw invalid('rollout must be an id or null');
  if (!Array.isArray(latency) || (latency.length !== 0 && latency.length !== latencyBuckets)) {
    throw invalid(`latency must be a list of ${latencyBuckets} counts, or empty`);
  }
  if (!latency.every((count) => Number.isSafeInteger(count) && count >= 0)) throw invalid('latency must hold counts');
  return {
    of: oneOf(each, 'of', ['stable', 'candidate'] as const),
    rollout: rollout === null ? null : rollout.slice(0, messageLimits.id),
    requests: uint(each, 'requests'),
    serverErrors: uint(each, 'serverErrors'),
    clientErrors: uint(each, 'clientErrors'),
    proxyErrors: uint(each, 'proxyErrors'),
    latency,
  };
}

/** In characters and not in halves of them, as the document counts. */
const isLonger = (value: string, lengthMax: number): boolean =>
  value.length > lengthMax && (value.length > 2 * lengthMax || [...value].length > lengthMax);

/** Longer texts are cut where they may be prose. */
function text(body: Json, name: string, lengthMax: number): string {
  const value = body[name];
  if (typeof value !== 'string') throw invalid(`${name} must be a string`);
  if (lengthMax < messageLimits.prose && isLonger(value, lengthMax))
    throw invalid(`${name} must have at most ${lengthMax} characters`);
  return lengthMax < messageLimits.prose ? value : value.slice(0, lengthMax);
}

function uint(body: Json, name: string): number {
  const value = body[name];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalid(`${name} must be a non-negative integer`);
}

function amount(body: Json, name: string): number {
  const value = body[name];
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw invalid(`${name} must be a non-negative number`);
}

function oneOf<T extends string>(body: Json, name: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === body[name]);
  if (found === undefined) throw invalid(`${name} must be one of ${allowed.join(', ')}`);
  return found;
}

function list(body: Json, name: string, lengthMax: number): Json[] {
  const value = body[name];
  if (!Array.isArray(value) || !value.every(isObject)) throw invalid(`${name} must be a list of objects`);
  if (value.length > lengthMax) throw invalid(`${name} must have at most ${lengthMax} entries`);
  return value;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const invalid = (message: string): SluiceError => new SluiceError('INVALID', message);
