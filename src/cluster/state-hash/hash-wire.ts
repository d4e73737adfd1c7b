// The bodies of `POST /sync/state-hash`: one member asks another which state hashes it had lately. Both sides check what
// the other sent, as with the relay.
import type { MemberId } from '../../../raft/index.ts';
import { isObject } from '../../model/json-object.ts';
import { jsonOf } from '../../util/malformed-json.ts';
import type { Hashes } from './hash-verdict.ts';

export interface HashAnswer {
  /** Member that answers: an address may lead to another node than it did. */
  readonly member: MemberId;
  readonly hashes: Hashes;
}

export const encodeHashRequest = (clusterId: string): Buffer => Buffer.from(JSON.stringify({ v: 1, clusterId }));

/** Returns the cluster that the request names, or a text with the problem of the body. */
export function decodeHashRequest(body: Uint8Array): { readonly clusterId: string } | string {
  const value = jsonOf(body);
  if (!isObject(value)) return 'body is not a JSON object';
  if (value.v !== 1) return 'version of the question is not 1';
  return typeof value.clusterId === 'string' ? { clusterId: value.clusterId } : 'clusterId is missing';
}

export const encodeHashAnswer = ({ member, hashes }: HashAnswer): string =>
  JSON.stringify({ member, hashes: [...hashes] });

/** Undefined for what is no answer. */
export function decodeHashAnswer(body: Uint8Array): HashAnswer | undefined {
  const value = jsonOf(body);
  if (!isObject(value) || typeof value.member !== 'string' || !Array.isArray(value.hashes)) return undefined;
  return value.hashes.every(isEntry) ? { member: value.member, hashes: new Map(value.hashes) } : undefined;
}

const isEntry = (value: unknown): value is [number, string] =>
  Array.isArray(value) &&
  value.length === 2 &&
  Number.isSafeInteger(value[0]) &&
  typeof value[1] === 'string' &&
  /^[0-9a-f]{16}$/.test(value[1]);
