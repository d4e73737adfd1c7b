// Call of one member to another over the API's port: with a proof of the cluster's secret, and for the cluster it is of.
import type { Clock } from '../../util/clock.ts';
import type { LeaderConnections } from './leader-connections.ts';
import { isProvenAnswer, signedFields } from './relay-credential.ts';

export interface MemberCallOptions {
  readonly connections: Pick<LeaderConnections, 'call'>;
  /** Undefined: this node belongs to no cluster yet, and asks none. */
  readonly clusterId: () => string | undefined;
  /** From the cluster token or what stands in for it; undefined: requests carry no proof. */
  readonly key: Uint8Array | undefined;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** 16 to 64 characters of base64url, never the same twice. */
  readonly newNonce: () => string;
}

export interface MemberRequest {
  /** API address of the member, `host:port`; empty when it advertises none. */
  readonly address: string;
  readonly path: string;
  readonly bodyFor: (clusterId: string) => Buffer;
  readonly withinMs: number;
}

/** Body of the answer; undefined when it does not answer in time, refuses, or does not prove to be a member. Never rejects. */
export async function askMember(
  options: MemberCallOptions,
  { address, path, bodyFor, withinMs }: MemberRequest,
): Promise<Buffer | undefined> {
  const clusterId = options.clusterId();
  if (clusterId === undefined || address === '') return undefined;
  const body = bodyFor(clusterId);
  const headers = provenHeaders(options, path, body);
  const reply = await options.connections.call({ address, method: 'POST', path, headers, body, withinMs });
  if (reply.is !== 'answered' || reply.status !== 200) return undefined;
  const { key } = options;
  const isProven = key === undefined || isProvenAnswer(key, headers.authorization ?? '', reply);
  return isProven ? reply.body : undefined;
}

/** Header fields of a POST, with the proof. */
export function provenHeaders(
  { key, clock, newNonce }: Pick<MemberCallOptions, 'key' | 'clock' | 'newNonce'>,
  path: string,
  body: Uint8Array,
): Record<string, string> {
  const type = { 'content-type': 'application/json' };
  if (key === undefined) return type;
  const stamp = { unixMs: clock.nowMs(), nonce: newNonce() };
  return { ...type, ...signedFields(key, { method: 'POST', path, body }, stamp) };
}
