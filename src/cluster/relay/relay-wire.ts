// The bodies of `POST /sync/raft` (architecture.md §8), written and read. Both sides check what the other sent: a member
// may run another version, and what is not understood must not be taken for an answer.

import { commandBytesMax } from '../../../raft/index.ts';
import type { RequestId } from '../../model/answers/member-messages.ts';
import { isCount, isObject } from '../../model/json-object.ts';
import { kinds } from '../../model/kinds.ts';
import type { Result } from '../../state/command.ts';
import { jsonOf } from '../../util/malformed-json.ts';

export interface RelayEnvelope {
  readonly clusterId: string;
  readonly requestId: RequestId;
  /** The command as the log carries it. */
  readonly command: Uint8Array;
  /** Time left of the wait of the API client, milliseconds. */
  readonly remainingMs: number;
}

/** Longest JSON body of a relayed write, which is far longer than the longest command that travels in one (architecture.md §8). */
export const relayBodyMax = 4 * 1024 * 1024;
/** Longest JSON body of an answer, and of what nodes ask each other beside writes. */
export const peerBodyMax = 6 * 1024 * 1024;
/** Longest body: the command as it is, and the fields around it. */
export const largeBodyMax = commandBytesMax + 64 * 1024;
/** Longer commands travel as they are: writing tens of megabytes as base64 would hold the thread. */
const longestInJson = 256 * 1024;
/** One hop: a node that is asked to relay a relayed write answers with the leader's address instead. */
const hop = 1;
const newline = 10;
const statuses: readonly Result['status'][] = [200, 201, 204, 400, 404, 409, 412, 422, 'moved'];

/** Most writes in one request. */
export const relayedTogetherMax = 64;

/** Address of an envelope, and its bytes. */
export interface Posted {
  readonly path: '/sync/raft' | '/sync/raft/large';
  readonly body: Buffer;
}

export function encodeEnvelope({ command, ...rest }: RelayEnvelope): Posted {
  const bytes = Buffer.from(command.buffer, command.byteOffset, command.byteLength);
  if (bytes.length <= longestInJson) {
    const body = Buffer.from(JSON.stringify({ v: 1, ...rest, command: bytes.toString('base64'), hop }));
    return { path: '/sync/raft', body };
  }
  const head = Buffer.from(`${JSON.stringify({ v: 1, ...rest, hop })}\n`);
  return { path: '/sync/raft/large', body: Buffer.concat([head, bytes]) };
}

/**
 * Encodes a body with several writes of one cluster, for the path of one: a node that does not know the form refuses it
 * before its log (400).
 */
export function encodeTogether(clusterId: string, writes: readonly Omit<RelayEnvelope, 'clusterId'>[]): Buffer {
  const listed = writes.map(({ command, ...rest }) => ({ ...rest, command: base64Of(command) }));
  return Buffer.from(JSON.stringify({ v: 1, clusterId, hop, writes: listed }));
}

/** Returns the envelopes in such a body; undefined for a body of another kind, a text with its problem. */
export function decodeTogether(value: unknown): readonly RelayEnvelope[] | string | undefined {
  if (!isObject(value) || value.writes === undefined) return undefined;
  const { v, clusterId, hop: hops, writes } = value;
  if (!Array.isArray(writes) || writes.length === 0 || writes.length > relayedTogetherMax) {
    return `writes must be an array of 1 to ${relayedTogetherMax}`;
  }
  const envelopes: RelayEnvelope[] = [];
  for (const write of writes) {
    const envelope = isObject(write)
      ? decodeEnvelope({ ...write, v, clusterId, hop: hops })
      : 'a write is no JSON object';
    if (typeof envelope === 'string') return envelope;
    envelopes.push(envelope);
  }
  return envelopes;
}

/**
 * Encodes the answers of all, in their order; `body` is JSON text. Replays hold whole entities: an answer that no
 * longer fits is left out, and its request is sent again.
 */
export function encodeAnswers(answers: readonly { readonly status: number; readonly body: string }[]): string {
  let room = peerBodyMax - roomOfAnswers;
  const told = answers.map(({ status, body }, at) => {
    const length = Buffer.byteLength(body);
    if (at > 0 && length > room) return notTold;
    room -= length;
    return `{"status":${status},"body":${body}}`;
  });
  return `{"answers":[${told.join()}]}`;
}

/** Bytes around the bodies of as many answers as there can be. */
const roomOfAnswers = relayedTogetherMax * 128;
const notTold = '{"status":504,"body":{"error":"the answers are too long together","outcome":"unknown"}}';

/** Undefined when it is not one answer for each of `count` writes. */
export function decodeAnswers(
  value: unknown,
  count: number,
): readonly { readonly status: number; readonly body: unknown }[] | undefined {
  if (!isObject(value) || !Array.isArray(value.answers) || value.answers.length !== count) return undefined;
  return value.answers.every(isAnswer) ? value.answers : undefined;
}

const isAnswer = (value: unknown): value is { readonly status: number; readonly body: unknown } =>
  isObject(value) && isCount(value.status);

const base64Of = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/** Returns the envelope in a JSON body, or a text with its problem. */
export function decodeEnvelope(value: unknown): RelayEnvelope | string {
  if (!isObject(value)) return 'body is not a JSON object';
  const bytes = typeof value.command === 'string' ? bytesOf(value.command) : undefined;
  return bytes === undefined ? 'command is not base64' : envelopeOf(value, bytes);
}

/** The envelope in one line of JSON with the command's bytes behind it. */
export function decodeLargeEnvelope(body: Uint8Array): RelayEnvelope | string {
  const end = body.indexOf(newline);
  const head = end < 0 ? undefined : jsonOf(body.subarray(0, end));
  return isObject(head) ? envelopeOf(head, body.subarray(end + 1)) : 'body does not begin with a line of JSON';
}

function envelopeOf(
  { v, hop: hops, clusterId, requestId, remainingMs }: Readonly<Record<string, unknown>>,
  command: Uint8Array,
): RelayEnvelope | string {
  if (v !== 1) return 'version of the relay is not 1';
  if (hops !== hop) return 'a write is relayed once';
  if (typeof clusterId !== 'string' || clusterId === '') return 'clusterId is missing';
  if (!isRequestId(requestId)) return 'requestId is missing';
  if (command.length === 0) return 'command is missing';
  if (!isCount(remainingMs) || remainingMs === 0) return 'remainingMs must be a positive integer';
  return { clusterId, requestId, command, remainingMs };
}

export const encodeApplied = ({ index, ...result }: Result): string => JSON.stringify({ index, result });

/** The result in a 200; undefined when it is not one. */
export function decodeApplied(body: unknown): Result | undefined {
  if (!isObject(body) || !isCount(body.index) || !isObject(body.result)) return undefined;
  const result = { ...body.result, index: body.index };
  return isResult(result) ? result : undefined;
}

/** Undefined for what is not exactly base64; Node's decoder skips what it does not know. */
function bytesOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : undefined;
}

const isRequestId = (value: unknown): value is RequestId =>
  isObject(value) &&
  typeof value.origin === 'string' &&
  [value.incarnation, value.boot, value.seq, value.ackedBelow].every(isCount);

const isResult = (
  value: Readonly<Record<string, unknown>> & { readonly index: number },
): value is typeof value & Result =>
  statuses.some((status) => status === value.status) &&
  kinds.some((kind) => kind === value.kind) &&
  typeof value.id === 'string' &&
  (value.error === undefined || typeof value.error === 'string') &&
  (value.replay === undefined || isObject(value.replay));
