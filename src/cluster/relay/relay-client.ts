// Carries a write from the node that received it to the leader (raft.md A16). One attempt: the proposer decides whether
// and where to try again, and for that it must know what this attempt can have done.
import { isObject } from '../../model/json-object.ts';
import { hostOf, portOf } from '../../telemetry/traces/span-texts.ts';
import type { WorkSpan, WorkTraces } from '../../telemetry/traces/work-traces.ts';
import { jsonOf } from '../../util/malformed-json.ts';
import type { LeaderReply } from './leader-connections.ts';
import { type MemberCallOptions, provenHeaders } from './member-call.ts';
import { decodeAnswers, decodeApplied, encodeEnvelope, encodeTogether, largeBodyMax } from './relay-wire.ts';
import type { Relay, RelayOutcome, RelayRequest } from './relayed-write.ts';
import { GatheredWrites, longestGathered } from './write-batcher.ts';

export interface RelayClientOptions extends MemberCallOptions {
  /** Undefined: nothing is traced. */
  readonly traces?: WorkTraces | undefined;
  /** Runs what it is given once this turn has brought all it has. Undefined: each write goes in a request of its own. */
  readonly turnEnd?: ((run: () => void) => void) | undefined;
}

export class RelayClient implements Relay {
  readonly #options: RelayClientOptions;
  readonly #gathered: GatheredWrites | undefined;

  constructor(options: RelayClientOptions) {
    const { turnEnd } = options;
    this.#options = options;
    this.#gathered =
      turnEnd &&
      new GatheredWrites({
        turnEnd,
        alone: (request) => this.#sendAlone(request),
        together: (requests) => this.#sendTogether(requests),
      });
  }

  /** A write that is traced goes alone, for its request carries the trace. */
  send(request: RelayRequest): Promise<RelayOutcome> {
    const isAlone = request.command.length > longestGathered || this.#options.traces?.current !== undefined;
    return isAlone || this.#gathered === undefined ? this.#sendAlone(request) : this.#gathered.send(request);
  }

  async #sendTogether(requests: readonly RelayRequest[]): Promise<readonly RelayOutcome[]> {
    const { connections, clusterId: own } = this.#options;
    const clusterId = own();
    const address = requests[0]?.leader.address ?? '';
    if (clusterId === undefined || address === '') return await this.#eachAlone(requests);
    const writes = requests.map(({ requestId, command, remainingMs }) => ({
      requestId,
      command,
      remainingMs: Math.max(1, Math.round(remainingMs)),
    }));
    const withinMs = Math.max(...writes.map(({ remainingMs }) => remainingMs));
    const body = encodeTogether(clusterId, writes);
    const path = '/sync/raft';
    const headers = provenHeaders(this.#options, path, body);
    const reply = await connections.call({ address, method: 'POST', path, headers, body, withinMs });
    // Refused as a whole, before any log: by a leader that knows single writes only, or for one of them.
    if (reply.is === 'answered' && reply.status >= 400 && reply.status < 500) return await this.#eachAlone(requests);
    const answers =
      reply.is === 'answered' && reply.status === 200 ? decodeAnswers(jsonOf(reply.body), requests.length) : undefined;
    if (answers !== undefined) return answers.map(outcomeOfAnswer);
    const outcome = outcomeOf(reply);
    return requests.map(() => outcome);
  }

  #eachAlone(requests: readonly RelayRequest[]): Promise<readonly RelayOutcome[]> {
    return Promise.all(requests.map((request) => this.#sendAlone(request)));
  }

  async #sendAlone({ leader, requestId, command, remainingMs }: RelayRequest): Promise<RelayOutcome> {
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

/** Only the explicit answer of a leader is certain; a 4xx came before its log. */
function outcomeOf(reply: LeaderReply): RelayOutcome {
  if (reply.is === 'lost') return { outcome: reply.sent ? 'unknown' : 'not-applied', reason: reply.reason };
  return outcomeOfAnswer({ status: reply.status, body: jsonOf(reply.body) });
}

function outcomeOfAnswer({ status, body }: { readonly status: number; readonly body: unknown }): RelayOutcome {
  const result = status === 200 ? decodeApplied(body) : undefined;
  if (result !== undefined) return { outcome: 'applied', index: result.index, result };
  const error = isObject(body) && typeof body.error === 'string' ? body.error : 'no reason given';
  const isRefusal = (status >= 400 && status < 500) || (isObject(body) && body.outcome === 'not-applied');
  return {
    outcome: isRefusal ? 'not-applied' : 'unknown',
    reason: `the leader answered ${status}: ${error}`,
  };
}
