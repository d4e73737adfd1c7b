// Page of recorded requests as it travels between processes, read and bounded: a proxy has only a key of its own, and what it
// says is shown to others.
import { expressionMax } from '../expression/cel/compiled-program.ts';
import { isCount, isObject } from './json-object.ts';
import type { RecordedPage, RecordedRequest } from './recent-request.ts';

/** Question for one page. */
export interface PageQuestion {
  readonly limit: number;
  /** Expression of the filter; absent: none. */
  readonly where?: string;
  /** Number of the request before which the page begins; absent: the newest. */
  readonly before?: number;
}

/** Answer of a process: a page, or the reason why the filter cannot be used. */
export type PageAnswer = { readonly page: RecordedPage } | { readonly refused: string };

/** Requests of a page; a longer one would hold the threads that write and read it. */
export const pageMax = 200;
const namesMax = 16;
const textMax = 8_192;

type Json = Readonly<Record<string, unknown>>;

/** Returns undefined for what is no question. */
export function pageQuestionOf({ limit, where, before }: Json): PageQuestion | undefined {
  if (!isCount(limit) || limit < 1 || limit > pageMax) return undefined;
  if (where !== undefined && (typeof where !== 'string' || where.length > expressionMax)) return undefined;
  if (before !== undefined && !isCount(before)) return undefined;
  return { limit, ...(where !== undefined && { where }), ...(before !== undefined && { before }) };
}

/** Returns undefined for what is no answer. */
export function pageAnswerOf(value: unknown): PageAnswer | undefined {
  if (!isObject(value)) return undefined;
  if (typeof value.refused === 'string') return { refused: value.refused.slice(0, textMax) };
  const page = isObject(value.page) ? pageOf(value.page) : undefined;
  return page && { page };
}

function pageOf({ headers, query, requests, before }: Json): RecordedPage | undefined {
  if (!isNames(headers) || !isNames(query)) return undefined;
  if (before !== null && !isCount(before)) return undefined;
  if (!Array.isArray(requests) || requests.length > pageMax) return undefined;
  const read = requests.map(requestOf);
  return read.every((each) => each !== undefined) ? { headers, query, requests: read, before } : undefined;
}

/** Kind of each field. */
const fields: { readonly [K in keyof Required<RecordedRequest>]: (value: unknown) => boolean } = {
  time: isText,
  method: isText,
  scheme: (value) => value === 'http' || value === 'https',
  host: isText,
  path: isText,
  params: (value) => Array.isArray(value) && value.length <= 64 && value.every(isText),
  query: isValues,
  headers: isValues,
  protocol: isText,
  status: isCount,
  listener: isText,
  listenerId: isText,
  section: isText,
  route: isText,
  routeId: isText,
  group: isText,
  destination: isText,
  endpoint: isText,
  attempts: isCount,
  durationMs: isTime,
  proxyMs: isTime,
  connectMs: isTime,
  firstByteMs: isTime,
  transferMs: isTime,
  snapshotIndex: isCount,
  role: (value) => value === 'stable' || value === 'candidate',
  error: isText,
  oneIn: isCount,
  isCut: (value) => typeof value === 'boolean',
  lacksParams: (value) => typeof value === 'boolean',
};
const fieldList = Object.entries(fields);

/** Fields that an earlier version does not tell. */
const untold: ReadonlySet<string> = new Set(['proxyMs', 'connectMs', 'firstByteMs', 'transferMs']);

/** Fields of a later version are left out. */
function requestOf(value: unknown): RecordedRequest | undefined {
  if (!isObject(value)) return undefined;
  const read: Record<string, unknown> = {};
  for (const [name, isValid] of fieldList) {
    const told = value[name];
    if (told === undefined && untold.has(name)) continue;
    if (!isValid(told)) return undefined;
    read[name] = told;
  }
  // Each field was checked.
  return read as unknown as RecordedRequest;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= textMax;
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isValues(value: unknown): boolean {
  return isObject(value) && Object.values(value).length <= namesMax && Object.values(value).every(isText);
}

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= namesMax && value.every(isText);
