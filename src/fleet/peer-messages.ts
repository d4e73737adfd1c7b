// Messages of a proxy about itself, read and bounded (fleet.md §4). A proxy has only a key of its own, so its texts
// are bounded: they are kept in memory and shown to others.

import { SluiceError } from '../errors.ts';
import type { ListenerReport } from '../model/answers/proxy-messages.ts';
import type { ShadowCounts, ShadowExample } from '../model/answers/rollout-answers.ts';
import { type Acknowledgement, type TrafficWindow } from '../model/fleet-messages.ts';
import { isAbsentText, isObject } from '../model/json-object.ts';
import { latencyBuckets, messageLimits } from '../model/message-limits.ts';
import { type Problem, pointerOf } from '../model/problem.ts';
import { type PageAnswer, pageAnswerOf } from '../model/recorded-page.ts';
import { shadowCountNames, shadowExamplesMax } from '../model/shadow.ts';
import { type ShadowKind, shadowKinds } from '../model/shadow-kinds.ts';
import { type ProxyTraffic, proxyTrafficOf } from '../model/traffic-report.ts';

export interface AcknowledgementMessage extends Acknowledgement {
  readonly token: string;
  readonly boot: string;
}

export interface ReportMessage {
  readonly token: string;
  readonly boot: string;
  readonly window: readonly TrafficWindow[];
  /** Traffic by route and destination; absent from a proxy of an earlier version. */
  readonly traffic?: ProxyTraffic | undefined;
}

/** Answer of a proxy to a question over its stream. */
export interface AnswerMessage {
  readonly token: string;
  readonly boot: string;
  /** Number of the question. */
  readonly id: number;
  /** Undefined: it is no answer that is understood. */
  readonly answer: PageAnswer | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** An object of a message, and where in it. */
export interface MessagePart {
  readonly json: Json;
  /** JSON pointer from the body. */
  readonly pointer: string;
}

/** Throws INVALID. */
export function acknowledgementOf(json: Json): AcknowledgementMessage {
  const body = { json, pointer: '' };
  return {
    ...addressOf(body),
    index: uint(body, 'index'),
    sha256: text(body, 'sha256', messageLimits.sha256),
    of: oneOf(body, 'of', ['stable', 'candidate'] as const),
    state: oneOf(body, 'state', ['installed', 'refused'] as const),
    tookMs: amount(body, 'tookMs'),
    problems: listOrNone(body, 'problems', messageLimits.problems).map(problemOf),
    listeners: listOrNone(body, 'listeners', messageLimits.listeners).map(listenerOf),
  };
}

/** Throws INVALID. */
export function reportOf(json: Json): ReportMessage {
  const body = { json, pointer: '' };
  const { traffic } = json;
  return {
    ...addressOf(body),
    window: list(body, 'window', messageLimits.windows).map(windowOf),
    ...(isObject(traffic) && { traffic: proxyTrafficOf(traffic) }),
  };
}

/** Throws INVALID. */
export function answerOf(json: Json): AnswerMessage {
  const body = { json, pointer: '' };
  return { ...addressOf(body), id: uint(body, 'id'), answer: pageAnswerOf(json.answer) };
}

/** JSON pointers of fields that an answer does not have. */
export const unknownInAnswer = (json: Json): string[] => unknownIn(json, answerForm);

/** JSON pointers of fields that an acknowledgement does not have. */
export const unknownInAcknowledgement = (json: Json): string[] => unknownIn(json, acknowledgementForm);

/** The same of a report. */
export const unknownInReport = (json: Json): string[] => unknownIn(json, reportForm);

/** Fields by name; of a list of objects, theirs. */
interface Form {
  readonly [field: string]: Form | 'value';
}

/** Names every field of a message, and no other: the compiler holds the two together. */
type FormOf<T> = {
  readonly [K in keyof T]-?: NonNullable<T[K]> extends readonly (infer E extends object)[] ? FormOf<E> : 'value';
};

const addressForm = { token: 'value', boot: 'value' } as const;
const acknowledgementForm: FormOf<AcknowledgementMessage> = {
  ...addressForm,
  index: 'value',
  sha256: 'value',
  of: 'value',
  state: 'value',
  tookMs: 'value',
  problems: { pointer: 'value', message: 'value' },
  listeners: { id: 'value', state: 'value', reason: 'value' },
};
const answerForm: FormOf<AnswerMessage> = { ...addressForm, id: 'value', answer: 'value' };
const reportForm: FormOf<ReportMessage> = {
  ...addressForm,
  window: {
    of: 'value',
    rollout: 'value',
    requests: 'value',
    serverErrors: 'value',
    clientErrors: 'value',
    proxyErrors: 'value',
    refusals: 'value',
    latency: 'value',
    mirror: 'value',
    shadow: 'value',
    examples: 'value',
  },
  traffic: 'value',
};

/** Returns pointers to unknown fields of a message that was read: its lists hold objects. */
function unknownIn(json: Json, form: Form, pointer = ''): string[] {
  return Object.entries(json).flatMap(([name, value]) => {
    const at = pointer + pointerOf(name);
    const inner = Object.hasOwn(form, name) ? form[name] : undefined;
    if (inner === undefined) return [at];
    if (inner === 'value' || !Array.isArray(value)) return [];
    return value.flatMap((each: Json, place) => unknownIn(each, inner, `${at}/${place}`));
  });
}

export const addressOf = (body: MessagePart): { token: string; boot: string } => ({
  token: text(body, 'token', messageLimits.token),
  boot: text(body, 'boot', messageLimits.boot),
});

const problemOf = (each: MessagePart): Problem => ({
  pointer: text(each, 'pointer', messageLimits.prose),
  message: text(each, 'message', messageLimits.prose),
});

const listenerOf = (each: MessagePart): ListenerReport => ({
  id: text(each, 'id', messageLimits.id),
  state: oneOf(each, 'state', ['open', 'waiting', 'failed'] as const),
  ...(!isAbsentText(each.json.reason) && { reason: text(each, 'reason', messageLimits.prose) }),
});

function windowOf(each: MessagePart): TrafficWindow {
  const { rollout, latency: sent } = each.json;
  const latency = sent ?? [];
  if (!isAbsentText(rollout) && typeof rollout !== 'string') throw invalid(each, 'rollout', 'must be an id or null');
  if (!Array.isArray(latency) || (latency.length !== 0 && latency.length !== latencyBuckets)) {
    throw invalid(each, 'latency', `must be a list of ${latencyBuckets} counts, or empty`);
  }
  if (!latency.every((count) => Number.isSafeInteger(count) && count >= 0)) {
    throw invalid(each, 'latency', 'must hold counts');
  }
  return {
    of: oneOf(each, 'of', ['stable', 'candidate'] as const),
    rollout: isAbsentText(rollout) ? null : rollout.slice(0, messageLimits.id),
    requests: uint(each, 'requests'),
    serverErrors: uint(each, 'serverErrors'),
    clientErrors: uint(each, 'clientErrors'),
    proxyErrors: uint(each, 'proxyErrors'),
    ...((each.json.refusals ?? undefined) !== undefined && { refusals: uint(each, 'refusals') }),
    latency,
    ...mirrorOf(each),
    ...shadowOf(each),
    ...examplesOf(each),
  };
}

/** Absent from a proxy of an earlier version, and where no request was compared. */
function shadowOf({ json, pointer }: MessagePart): Pick<TrafficWindow, 'shadow'> {
  const { shadow } = json;
  if (shadow === undefined || shadow === null) return {};
  if (!isObject(shadow)) throw invalid({ json, pointer }, 'shadow', 'must be an object');
  const at = { json: shadow, pointer: `${pointer}/shadow` };
  const counts = Object.fromEntries(shadowCountNames.map((name) => [name, uint(at, name)]));
  return { shadow: counts as unknown as ShadowCounts };
}

/** Examples of differences. Longer texts are cut. */
function examplesOf({ json, pointer }: MessagePart): Pick<TrafficWindow, 'examples'> {
  const { examples } = json;
  if (examples === undefined || examples === null) return {};
  if (!isObject(examples)) throw invalid({ json, pointer }, 'examples', 'must be an object');
  const at = { json: examples, pointer: `${pointer}/examples` };
  const read = (kind: ShadowKind) => listOrNone(at, kind, shadowExamplesMax).map(exampleOf);
  return { examples: Object.fromEntries(shadowKinds.map((kind) => [kind, read(kind)])) };
}

const exampleOf = (each: MessagePart): ShadowExample => ({
  time: text(each, 'time', messageLimits.prose),
  method: text(each, 'method', messageLimits.prose),
  host: text(each, 'host', messageLimits.prose),
  path: text(each, 'path', messageLimits.prose),
  params: textsOf(each, 'params'),
  from: namedOf(each, 'from'),
  to: namedOf(each, 'to'),
  what: textsOf(each, 'what'),
});

function textsOf(at: MessagePart, name: string): readonly string[] {
  const value = at.json[name];
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
    throw invalid(at, name, 'must be a list of strings');
  return value.slice(0, messageLimits.problems).map((each) => each.slice(0, messageLimits.prose));
}

function namedOf(at: MessagePart, name: string): ShadowExample['from'] {
  const value = at.json[name];
  if (value === null || value === undefined) return null;
  if (!isObject(value)) throw invalid(at, name, 'must be an object or null');
  const within = { json: value, pointer: `${at.pointer}/${name}` };
  return { id: text(within, 'id', messageLimits.prose), name: text(within, 'name', messageLimits.prose) };
}

/** Absent from a proxy of an earlier version, and where no response was compared. */
function mirrorOf({ json, pointer }: MessagePart): Pick<TrafficWindow, 'mirror'> {
  const { mirror } = json;
  if (mirror === undefined || mirror === null) return {};
  if (!isObject(mirror)) throw invalid({ json, pointer }, 'mirror', 'must be an object');
  const at = { json: mirror, pointer: `${pointer}/mirror` };
  return { mirror: { compared: uint(at, 'compared'), mismatched: uint(at, 'mismatched') } };
}

/** In characters and not in halves of them, as the document counts. */
const isLonger = (value: string, lengthMax: number): boolean =>
  value.length > lengthMax && (value.length > 2 * lengthMax || [...value].length > lengthMax);

/** Longer texts are cut where they may be prose. */
export function text(at: MessagePart, name: string, lengthMax: number): string {
  const value = at.json[name];
  if (typeof value !== 'string') throw invalid(at, name, 'must be a string');
  if (lengthMax < messageLimits.prose && isLonger(value, lengthMax))
    throw invalid(at, name, `must have at most ${lengthMax} characters`);
  return lengthMax < messageLimits.prose ? value : value.slice(0, lengthMax);
}

export function uint(at: MessagePart, name: string): number {
  const value = at.json[name];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalid(at, name, 'must be a non-negative integer');
}

export function amount(at: MessagePart, name: string): number {
  const value = at.json[name];
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw invalid(at, name, 'must be a non-negative number');
}

function oneOf<T extends string>(at: MessagePart, name: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === at.json[name]);
  if (found === undefined) throw invalid(at, name, `must be one of ${allowed.join(', ')}`);
  return found;
}

export function list(at: MessagePart, name: string, lengthMax: number): MessagePart[] {
  const value = at.json[name];
  if (!Array.isArray(value)) throw invalid(at, name, 'must be a list of objects');
  if (value.length > lengthMax) throw invalid(at, name, `must have at most ${lengthMax} entries`);
  if (!value.every(isObject)) throw invalid(at, name, 'must be a list of objects');
  return value.map((json, place) => ({ json, pointer: `${at.pointer}/${name}/${place}` }));
}

/** Reads a list. Typed clients send empty lists as `null`. */
const listOrNone = (at: MessagePart, name: string, lengthMax: number): MessagePart[] =>
  (at.json[name] ?? undefined) === undefined ? [] : list(at, name, lengthMax);

const invalid = ({ pointer }: MessagePart, name: string, message: string): SluiceError =>
  new SluiceError('INVALID', `${pointer}/${name} ${message}`);
