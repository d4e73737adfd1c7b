// Ring of recent requests, in memory that all threads of the process share: workers write, main reads, without messages
// or waits. One slot per request; the oldest is overwritten. Requests that a crashed worker wrote stay.

import { proxyErrors } from '../../errors.ts';
import type { RecentRequest } from '../../model/answers/request-answers.ts';
import type { RecordedRequest, RequestSample } from '../../model/recent-request.ts';
import { newChainBytes } from './chain-counts.ts';
import { newHitBytes } from './last-hits.ts';

/**
 * A slot: int32 lock (0, or 1 + place of the worker that writes), int32 length of the text in bytes, doubles: number,
 * time, milliseconds, index of the configuration, how many it stands for; int32: status, attempts, codes; doubles:
 * milliseconds of three phases, of which the fourth is the rest; text.
 */
const head = 88;
const numberAt = 1;
const timeAt = 2;
const durationAt = 3;
const indexAt = 4;
const oneInAt = 5;
const statusAt = 12;
const attemptsAt = 13;
const codesAt = 14;

const proxyAt = 8;
const connectAt = 9;
const firstByteAt = 10;

const textBytes = 936;
/** Bytes behind those, apart from the slots: few requests have such long texts, and memory that was never written is none. */
const restBytes = 2_560;
/** Characters of one listed field or parameter. */
export const headerMax = 256;
export const methodMax = 32;
export const hostMax = 255;

/**
 * Head of the whole ring: the number of the next slot; then per worker three doubles, the requests seen and the two
 * samplings.
 */
const ringHead = 64;
const perWorker = 4;

const usual = 'HTTP/1.1';
const usualCode = 1;
const protocols = ['HTTP/1.0', 'HTTP/1.1', 'HTTP/2.0'] as const;
const errors = ['', ...Object.keys(proxyErrors)];
const errorCodes: ReadonlyMap<string, number> = new Map(errors.map((type, code) => [type, code]));
const protocolCodes: ReadonlyMap<string, number> = new Map(protocols.map((protocol, code) => [protocol, code]));

/** Reference to the ring, to be posted to a worker. */
export interface RingShape {
  readonly bytes: SharedArrayBuffer;
  readonly slots: number;
  readonly workers: number;
  /** Names of the fields whose values are kept, in lower case. */
  readonly headers: readonly string[];
  /** Names of the parameters of the query whose values are kept. */
  readonly query: readonly string[];
  /** LastHits of the process. */
  readonly hits: SharedArrayBuffer;
  /** ChainCounts of the process. */
  readonly chains: SharedArrayBuffer;
}

const slotBytesOf = (values: number): number => head + textBytes + values * headerMax;

const restsFromOf = (workers: number): number => ringHead + workers * perWorker * 8;
const slotsFromOf = (slots: number, workers: number): number => restsFromOf(workers) + slots * restBytes;

/** @param slots at least 1. */
export function newRing(
  slots: number,
  workers: number,
  headers: readonly string[],
  query: readonly string[] = [],
): RingShape {
  const slotsFrom = slotsFromOf(slots, workers);
  const bytes = new SharedArrayBuffer(slotsFrom + slots * slotBytesOf(headers.length + query.length));
  return { bytes, slots, workers, headers, query, hits: newHitBytes(), chains: newChainBytes(workers) };
}

/** Numbers in a slot. */
export interface RingNumbers {
  /** Unix milliseconds. */
  readonly timeMs: number;
  readonly durationMs: number;
  readonly proxyMs: number;
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly index: number;
  readonly oneIn: number;
  readonly status: number;
  readonly attempts: number;
  readonly protocol: string;
  readonly secure: boolean;
  readonly candidate: boolean;
  readonly error: string;
}

export class RequestRing {
  readonly shape: RingShape;
  readonly #slotBytes: number;
  readonly #slotsFrom: number;
  readonly #next: BigInt64Array;
  readonly #ints: Int32Array;
  readonly #doubles: Float64Array;
  readonly #bytes: Buffer;

  constructor(shape: RingShape) {
    this.shape = shape;
    this.#slotBytes = slotBytesOf(shape.headers.length + shape.query.length);
    this.#slotsFrom = slotsFromOf(shape.slots, shape.workers);
    this.#next = new BigInt64Array(shape.bytes, 0, 1);
    this.#ints = new Int32Array(shape.bytes);
    this.#doubles = new Float64Array(shape.bytes);
    this.#bytes = Buffer.from(shape.bytes);
  }

  /** Number of requests written so far. */
  get end(): number {
    return Number(Atomics.load(this.#next, 0));
  }

  /** Texts in the order of `textsOf`, each followed by NUL; what does not fit is cut off. Called by the worker at `place`. */
  write(place: number, numbers: RingNumbers, text: string): void {
    const number = Number(Atomics.add(this.#next, 0, 1n));
    const at = this.#at(number);
    const ints = this.#ints;
    const lock = at >> 2;
    // Another has come round the whole ring while this one is being written: there is no slot for it.
    if (Atomics.compareExchange(ints, lock, 0, place + 1) !== 0) return;
    const doubles = this.#doubles;
    const first = at >> 3;
    doubles[first + numberAt] = number;
    doubles[first + timeAt] = numbers.timeMs;
    doubles[first + durationAt] = numbers.durationMs;
    doubles[first + proxyAt] = numbers.proxyMs;
    doubles[first + connectAt] = numbers.connectMs;
    doubles[first + firstByteAt] = numbers.firstByteMs;
    doubles[first + indexAt] = numbers.index;
    doubles[first + oneInAt] = numbers.oneIn;
    ints[lock + statusAt] = numbers.status;
    ints[lock + attemptsAt] = numbers.attempts;
    // Most requests have neither another protocol nor an error, and are asked for neither by name.
    const protocol = numbers.protocol === usual ? usualCode : (protocolCodes.get(numbers.protocol) ?? usualCode);
    const error = numbers.error === '' ? 0 : (errorCodes.get(numbers.error) ?? 0);
    ints[lock + codesAt] = protocol | (numbers.candidate ? 4 : 0) | (numbers.secure ? 8 : 0) | (error << 8);
    ints[lock + 1] = this.#writeText(number, text);
    Atomics.store(ints, lock, 0);
  }

  /** Stores the number of requests that the worker at `place` has seen, and its sampling rates. */
  storeCounts(place: number, seen: number, kept: number, oneIn: number, oneInOfErrors: number): void {
    const first = (ringHead >> 3) + place * perWorker;
    this.#doubles[first] = seen;
    this.#doubles[first + 1] = kept;
    this.#doubles[first + 2] = oneIn;
    this.#doubles[first + 3] = oneInOfErrors;
  }

  /** Returns the numbers that the worker at `place` stored last. */
  readCounts(place: number): { seen: number; kept: number; oneIn: number; oneInOfErrors: number } {
    const [seen = 0, kept = 0, oneIn = 0, oneInOfErrors = 0] = this.#doubles.subarray(
      (ringHead >> 3) + place * perWorker,
      (ringHead >> 3) + (place + 1) * perWorker,
    );
    return { seen, kept, oneIn: Math.max(1, oneIn), oneInOfErrors: Math.max(1, oneInOfErrors) };
  }

  /** Undefined while it is being written, and when it has been overwritten. */
  read(number: number): RecentRequest | undefined {
    const recorded = this.recorded(number);
    if (recorded === undefined) return undefined;
    const { isCut: _, lacksParams: __, ...request } = recorded;
    return request;
  }

  /** Undefined as of `read`. */
  recorded(number: number): RecordedRequest | undefined {
    const at = this.#at(number);
    const lock = at >> 2;
    const doubles = this.#doubles;
    const first = at >> 3;
    if (Atomics.load(this.#ints, lock) !== 0 || doubles[first + numberAt] !== number) return undefined;
    const [timeMs = 0, durationMs = 0, index = 0, oneIn = 1] = doubles.subarray(first + timeAt, first + oneInAt + 1);
    const [status = 0, attempts = 0, codes = 0] = this.#ints.subarray(lock + statusAt, lock + codesAt + 1);
    const [proxyMs = 0, connectMs = 0, firstByteMs = 0] = doubles.subarray(first + proxyAt, first + firstByteAt + 1);
    const length = this.#ints[lock + 1] ?? 0;
    const text = this.#textOf(number, length);
    // A writer that has begun here since has changed either the lock or the number.
    if (Atomics.compareExchange(this.#ints, lock, 0, 0) !== 0 || doubles[first + numberAt] !== number) return undefined;
    const { time, headers, query, isCut, ...texts } = { time: timeText(timeMs), ...this.#texts(text) };
    return {
      time,
      ...texts,
      query,
      headers,
      scheme: (codes & 8) !== 0 ? 'https' : 'http',
      protocol: protocols[codes & 3] ?? 'HTTP/1.1',
      status,
      attempts,
      durationMs,
      proxyMs,
      connectMs,
      firstByteMs,
      transferMs: Math.max(0, durationMs - proxyMs - connectMs - firstByteMs),
      snapshotIndex: index,
      role: (codes & 4) !== 0 ? 'candidate' : 'stable',
      error: errors[codes >> 8] ?? '',
      oneIn,
      // A character that did not fit as a whole takes four bytes at most.
      isCut: isCut || length > this.#room + restBytes - 4,
    };
  }

  /** Returns the numbers of a request and the ids it went by; undefined as of `read`, which costs several times as much. */
  sample(number: number): RequestSample | undefined {
    const at = this.#at(number);
    const lock = at >> 2;
    const doubles = this.#doubles;
    const first = at >> 3;
    if (Atomics.load(this.#ints, lock) !== 0 || doubles[first + numberAt] !== number) return undefined;
    const durationMs = doubles[first + durationAt] ?? 0;
    const oneIn = doubles[first + oneInAt] ?? 1;
    const status = this.#ints[lock + statusAt] ?? 0;
    const isProxyError = (this.#ints[lock + codesAt] ?? 0) >> 8 !== 0;
    const length = this.#ints[lock + 1] ?? 0;
    if (length > this.#room) return this.#longSample(number);
    const text = at + head;
    const end = text + length;
    const routeFrom = this.#afterText(this.#afterText(text, end), end);
    const nameFrom = this.#afterText(routeFrom, end);
    const destinationFrom = this.#afterText(this.#afterText(nameFrom, end), end);
    const destinationEnd = this.#afterText(destinationFrom, end);
    const routeId = this.#bytes.toString('utf8', routeFrom, Math.max(routeFrom, nameFrom - 1));
    const destination = this.#bytes.toString('utf8', destinationFrom, Math.max(destinationFrom, destinationEnd - 1));
    if (Atomics.compareExchange(this.#ints, lock, 0, 0) !== 0 || doubles[first + numberAt] !== number) return undefined;
    return { durationMs, oneIn, status, isProxyError, routeId, destination };
  }

  #longSample(number: number): RequestSample | undefined {
    const request = this.read(number);
    if (request === undefined) return undefined;
    const { durationMs, oneIn, status, error, routeId, destination } = request;
    return { durationMs, oneIn, status, isProxyError: error !== '', routeId, destination };
  }

  /** Returns the length in bytes; what does not fit is cut off between two characters. */
  #writeText(number: number, text: string): number {
    const from = this.#at(number) + head;
    // A unit of UTF-16 takes at most three bytes.
    if (3 * text.length <= this.#room) return this.#bytes.write(text, from, 'utf8');
    const bytes = Buffer.allocUnsafe(this.#room + restBytes);
    const length = bytes.write(text, 'utf8');
    this.#bytes.set(bytes.subarray(0, Math.min(length, this.#room)), from);
    if (length > this.#room) this.#bytes.set(bytes.subarray(this.#room, length), this.#restAt(number));
    return length;
  }

  #textOf(number: number, length: number): string {
    const from = this.#at(number) + head;
    if (length <= this.#room) return this.#bytes.toString('utf8', from, from + length);
    const rest = this.#restAt(number);
    const more = Math.min(length - this.#room, restBytes);
    const parts = [this.#bytes.subarray(from, from + this.#room), this.#bytes.subarray(rest, rest + more)];
    return Buffer.concat(parts).toString('utf8');
  }

  /** Bytes of a text in its slot. */
  get #room(): number {
    return this.#slotBytes - head;
  }

  #restAt(number: number): number {
    return restsFromOf(this.shape.workers) + (number % this.shape.slots) * restBytes;
  }

  /** Returns the place behind the text that begins there. */
  #afterText(from: number, end: number): number {
    let at = from;
    while (at < end && this.#bytes[at] !== 0) at++;
    return Math.min(end, at + 1);
  }

  /** The worker at `place` has crashed: what it was writing never ends. */
  release(place: number): void {
    for (let slot = 0; slot < this.shape.slots; slot++) {
      Atomics.compareExchange(this.#ints, this.#at(slot) >> 2, place + 1, 0);
    }
  }

  #at(number: number): number {
    return this.#slotsFrom + (number % this.shape.slots) * this.#slotBytes;
  }

  #texts(text: string) {
    const [method = '', host = '', routeId = '', route = '', group = '', destination = '', ...more] = text.split('\0');
    const [endpoint = '', params = '', listenerId = '', listener = '', section = '', ...others] = more;
    const { headers: names, query: parameters } = this.shape;
    const headers = presentOf(names, others);
    const query = presentOf(parameters, others.slice(names.length));
    const path = others[names.length + parameters.length] ?? '';
    const lacksParams = params.endsWith('&');
    const told = lacksParams ? params.slice(0, -1) : params;
    const list = told === '' ? [] : told.split('&');
    const ids = { routeId, route, group, destination, endpoint, listenerId, listener, section };
    const isCut = path === '' || method.length >= methodMax || host.length >= hostMax;
    return { method, host, ...ids, params: list, lacksParams, path, isCut, headers, query };
  }
}

/** Values that stand in the order of the names. */
function presentOf(names: readonly string[], values: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (let i = 0; i < names.length; i++) {
    const value = values[i];
    // An absent value has no text at all; an empty one has its mark.
    if (value?.startsWith(present)) found[names[i] ?? ''] = value.slice(1);
  }
  return found;
}

/** Stands before the value of a field that the request has. */
export const present = '=';

const timeText = (ms: number): string => new Date(Math.min(Math.max(0, ms), 8.64e15)).toISOString();
