// Transport of messages between nodes. Neither order nor delivery is promised: the protocol lives with loss,
// duplication and reordering. An implementation checks cluster id and identity when a connection opens.
import type { Message } from '../core/message.ts';
import type { Member, MemberId } from '../core/types.ts';

export interface Transport {
  /** Called once, before anything is sent. */
  start(receiver: Receiver): void;
  /** Never blocks and never throws. Votes and heartbeats overtake bulk; on overflow bulk is dropped. */
  send(message: Message): void;
  /** Everyone this node may have to reach. Replaces the previous set; connections to others are closed. */
  setPeers(peers: readonly Member[]): void;
  close(): void;
}

export interface Receiver {
  receive(message: Message): void;
  /** Messages to this peer were lost for sure (connection broke, or bulk was dropped). */
  unreachable(peer: MemberId): void;
}

/** Transport of a cluster of one, which has no peers. */
export const silentTransport: Transport = {
  start() {},
  send() {},
  setPeers() {},
  close() {},
};
