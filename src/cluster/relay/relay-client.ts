// Carries a write from the node that received it to the leader (raft.md A16). One attempt: the proposer decides whether
// and where to try again, and for that it must know what this attempt can have done.
import { isObject } from '../../model/json-object.ts';
import { hostOf, portOf } from '../../telemetry/traces/span-texts.ts';
import type { WorkSpan, WorkTraces } from '../../telemetry/traces/work-traces.ts';
import type { LeaderReply } from './leader-connections.ts';
import { type MemberCallOptions, provenHeaders } from './member-call.ts';
import type { Relay, RelayOutcome, RelayRequest } from './relay.ts';
import { decodeApplied, encodeEnvelope, largeBodyMax, parse } from './relay-wire.ts';

export interface RelayClientOptions extends MemberCallOptions {
  /** Undefined: nothing is traced. */
  readonly traces?: WorkTraces | undefined;
}

export class RelayClient implements Relay {
  readonly #options: RelayClientOptions;

  constructor(options: RelayClientOptions) {
    this.#options = options;
  }

  async send({ leader, requestId, command, remainingMs }: RelayRequest): Promise<RelayOutcome> {
    const { connections, clusterId: own } = this.#options;
    const clusterId = own();
    if (clusterId === undefined) return notApplied('this node belongs to no cluster yet');
    if (leader.address === '') return notApplied(`the leader ${leader.nodeId} advertises no API address`);
    const withinMs = Math.max(1, Math.round(remainingMs));
    const { path, body } = encodeEnvelope({ clusterId, requestId, command, remainingMs: withinMs });
    if (body.length > largeBodyMax) return notApplied('the write is too large to be relayed');
    const span = this.#span(leader);
    const headers = { ...provenHeaders(this.#options, path, body), ...(span && { traceparent: span.traceparent }) };
    const outcome = outcomeOf(
      await connections.call({ address: leader.address, method: 'POST', path, headers, body, withinMs }),
    );
    span?.end(outcome.outcome === 'applied' ? '' : outcome.outcome);
    return outcome;
  }

  #span({ nodeId, address }: RelayRequest['leader']): WorkSpan | undefined {
    const { traces } = this.#options;
    if (traces?.current === undefined) return undefined;
    const server = { 'server.address': hostOf(address), 'server.port': portOf(address) };
    return traces.begin('client', 'relay', { 'sluice.leader': nodeId, ...server });
  }
}

const notApplied = (reason: string): RelayOutcome => ({ outcome: 'not-applied', reason });

/** Only what a leader says in so many words is certain; a 4xx came before its log. */
function outcomeOf(reply: LeaderReply): RelayOutcome {
  if (reply.is === 'lost') return { outcome: reply.sent ? 'unknown' : 'not-applied', reason: reply.reason };
  const { status } = reply;
  const body = parse(reply.body);
  const result = status === 200 ? decodeApplied(body) : undefined;
  if (result !== undefined) return { outcome: 'applied', index: result.index, result };
  const error = isObject(body) && typeof body.error === 'string' ? body.error : 'no reason given';
  const isRefusal = (status >= 400 && status < 500) || (isObject(body) && body.outcome === 'not-applied');
  return {
    outcome: isRefusal ? 'not-applied' : 'unknown',
    reason: `the leader answered ${status}: ${error}`,
  };
}
