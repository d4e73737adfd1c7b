// Checkpoints on their way: to peers that lag behind the kept log, and from a leader when this node does.
import type { Message } from '../core/message.ts';
import type { CoreOutput, Role } from '../core/output.ts';
import type { RaftCore } from '../core/raft-core.ts';
import type { CheckpointMeta, Index, MemberId } from '../core/types.ts';
import type { CheckpointStore } from '../store/checkpoint-store.ts';
import type { CheckpointPolicy } from './checkpoint-policy.ts';
import { CheckpointReceiver } from './checkpoint-receiver.ts';
import { CheckpointSender, type SenderLimits, type SenderLink } from './checkpoint-sender.ts';
import type { Host } from './driver-host.ts';
import type { DriverSettings } from './driver-settings.ts';
import type { MemberStats } from './stats.ts';
import type { Transport } from './transport.ts';

export interface TrafficParts {
  readonly settings: DriverSettings;
  readonly checkpoints: CheckpointStore;
  readonly transport: Transport;
  readonly host: Host;
}

export class CheckpointTraffic {
  readonly #core: RaftCore;
  readonly #parts: TrafficParts;
  readonly #policy: CheckpointPolicy;
  readonly #stats: MemberStats;
  readonly #receiver: CheckpointReceiver;
  readonly #senders = new Map<MemberId, CheckpointSender>();
  /** Peers that need one while all transfers are taken. */
  #waiting: MemberId[] = [];
  #nextTransfer: number;

  constructor(
    core: RaftCore,
    parts: TrafficParts,
    policy: CheckpointPolicy,
    stats: MemberStats,
    firstTransfer: number,
  ) {
    this.#core = core;
    this.#parts = parts;
    this.#policy = policy;
    this.#stats = stats;
    this.#nextTransfer = firstTransfer;
    this.#receiver = new CheckpointReceiver(parts.checkpoints, parts.settings.chunkWindow, {
      ack: (to, transfer, offset, refused) =>
        parts.transport.send({ ...this.#header(to), type: 'checkpointAck', transfer, offset, refused }),
      install: (meta) => parts.host.install(meta),
    });
  }

  #header(to: MemberId) {
    const { settings, term } = this.#core.inspect();
    return { clusterId: settings.clusterId, from: settings.id, to, term };
  }

  /** True for the messages that only this module understands. */
  receive(message: Message, now: number): boolean {
    if (message.type !== 'checkpointChunk' && message.type !== 'checkpointAck') return false;
    const { settings } = this.#core.inspect();
    if (message.clusterId !== settings.clusterId || message.to !== settings.id) return true;
    if (message.type === 'checkpointChunk')
      this.#receiver.chunk(message.from, message.transfer, message.offset, message.data);
    else this.#acked(message.from, message.transfer, message.offset, message.refused, now);
    return true;
  }

  #acked(from: MemberId, transfer: number, offset: number, refused: boolean, now: number): void {
    const sender = this.#senders.get(from);
    if (sender?.transfer === transfer) sender.acked(offset, refused, now);
  }

  execute({ checkpointsFor, fetch }: CoreOutput, now: number): void {
    for (const peer of checkpointsFor) this.#waiting.push(peer);
    this.#startSenders(now);
    if (fetch !== undefined) this.#receiver.offered(fetch.from, fetch.meta, fetch.transfer);
    else if (this.#core.inspect().fetching === undefined) this.#receiver.drop();
  }

  #startSenders(now: number): void {
    const meta = this.#policy.newest;
    while (this.#waiting.length > 0 && this.#senders.size < this.#parts.settings.transfers) {
      const peer = this.#waiting.shift()!;
      if (meta !== undefined && !this.#senders.has(peer)) this.#startSender(peer, meta, now);
    }
  }

  #startSender(peer: MemberId, meta: CheckpointMeta, now: number): void {
    const transfer = this.#nextTransfer;
    this.#nextTransfer += 1;
    const { checkpoints } = this.#parts;
    this.#stats.transfer('begun');
    this.#senders.set(peer, new CheckpointSender(peer, meta, transfer, checkpoints, this.#limits, this.#link, now));
  }

  get #limits(): SenderLimits {
    const { chunkBytes, chunkWindow, transferRate, transferRetryMs, transferTimeoutMs } = this.#parts.settings;
    return {
      chunkBytes,
      window: chunkWindow,
      bytesPerSecond: transferRate,
      retryMs: transferRetryMs,
      timeoutMs: transferTimeoutMs,
    };
  }

  readonly #link: SenderLink = {
    offer: (peer, meta, transfer) => {
      this.#core.offerCheckpoint(peer, meta, transfer);
    },
    chunk: (peer, transfer, offset, data) =>
      this.#parts.transport.send({ ...this.#header(peer), type: 'checkpointChunk', transfer, offset, data }),
    failed: (peer) => {
      this.#senders.delete(peer);
      this.#stats.transfer('failed');
      this.#core.checkpointFailed(peer);
    },
  };

  closeSender(peer: MemberId): void {
    this.#waiting = this.#waiting.filter((id) => id !== peer);
    this.#senders.get(peer)?.close();
    this.#senders.delete(peer);
  }

  tick(now: number): void {
    for (const peer of [...this.#senders.keys()]) {
      if (this.#core.inspect().progress.get(peer)?.state === 'checkpoint')
        this.#senders.get(peer)?.tick(now, this.#parts.settings.tickMs, this.#waiting.length > 0);
      else this.closeSender(peer);
    }
    this.#startSenders(now);
  }

  roleChanged(role: Role): void {
    if (role === 'leader') return;
    this.#waiting = [];
    for (const peer of [...this.#senders.keys()]) this.closeSender(peer);
  }

  complete(index: Index): CheckpointMeta | undefined {
    return this.#receiver.complete(index);
  }

  /** The host can't build the state of this checkpoint. */
  refuseFetch(index: Index): void {
    this.#receiver.refuse(index);
  }

  dropFetch(): void {
    this.#receiver.drop();
  }

  close(): void {
    this.roleChanged('follower');
    this.#receiver.drop();
  }
}
