// A write on its way from the node that received it to the leader, in one hop (raft.md A16). `Proposer` decides when and
// how often; a `Relay` carries one attempt over `POST /sync/raft`; at the other end a `RelayTarget` proposes it.
import type { RequestId } from '../../model/answers/member-messages.ts';
import type { Command, Result } from '../../state/command.ts';

export interface RelayRequest {
  /** Leader, as far as this node knows. */
  readonly leader: {
    readonly nodeId: string;
    /** API address that the leader advertises, `host:port`; empty when it advertises none. */
    readonly address: string;
  };
  readonly requestId: RequestId;
  /** The command as the log carries it. The same bytes in every attempt. */
  readonly command: Uint8Array;
  /** Time left of the caller's ten seconds. */
  readonly remainingMs: number;
}

export type RelayOutcome =
  /** The leader has applied it. A refusal of the state machine is a result too. */
  | { readonly outcome: 'applied'; readonly index: number; readonly result: Result }
  /** Certain: this attempt has put nothing into the log (connection refused, 421, 503 not-applied). */
  | { readonly outcome: 'not-applied'; readonly reason: string }
  /** Unknown outcome: time ran out or the connection broke after bytes were sent. */
  | { readonly outcome: 'unknown'; readonly reason: string };

/** Makes one attempt and never rejects. */
export interface Relay {
  send(request: RelayRequest): Promise<RelayOutcome>;
}

export interface ReceivedWrite extends Pick<RelayRequest, 'requestId' | 'command' | 'remainingMs'> {
  /** Command of the bytes, decoded on this node and checked to be of this request. */
  readonly decoded: Command;
}

/** Receiver of commands by `POST /sync/raft`: it never relays them any further. */
export interface RelayTarget {
  receive(write: ReceivedWrite): Promise<ReceivedOutcome>;
}

export type ReceivedOutcome =
  | RelayOutcome
  /** Status 421. `leader`: the node that this one believes to lead instead. */
  | { readonly outcome: 'not-leader'; readonly leader: RelayRequest['leader'] | undefined };
