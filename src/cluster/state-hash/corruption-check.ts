// Corruption check: compares the state of this node with that of the others, soon after it is ready and once a minute
// from then on (raft.md A17). Nodes that applied the same log must hold the same state; one that does not would answer
// differently for ever, so it stops. Each node judges itself: no node can talk another out of the cluster.
import { identityOf, type Member, type MemberStatus } from '../../../raft/index.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import type { Cluster } from '../members/cluster.ts';
import { type HashedPeer, type Hashes, judge } from './hash-verdict.ts';

export interface CorruptionCheckParts {
  readonly cluster: Pick<Cluster, 'status'>;
  readonly own: () => Hashes;
  /** Undefined when the member does not answer. Never rejects. */
  readonly ask: (member: Member) => Promise<Hashes | undefined>;
  /** Ends the part of this node in the cluster for good. */
  readonly condemn: (reason: string) => void;
  readonly observer: HashObserver;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** For metrics. */
interface HashObserver {
  stateCompared(index: number): void;
  stateDiffers(): void;
}

const firstMs = 1_000;
const everyMs = 60_000;

export class CorruptionCheck {
  readonly #parts: CorruptionCheckParts;
  #cancel: Cancel = () => undefined;
  #ended = false;

  constructor(parts: CorruptionCheckParts) {
    this.#parts = parts;
  }

  /** This node has caught up. */
  start(): void {
    this.#wait(firstMs);
  }

  end(): void {
    this.#ended = true;
    this.#cancel();
  }

  /** One round. Resolves when it is judged. */
  async compare(): Promise<void> {
    const status = await this.#parts.cluster.status();
    if (status === undefined) return;
    const peers = await this.#answers(status);
    const quorum = Math.floor(status.config.voters.length / 2) + 1;
    const { comparedAt, condemnedAt, differing } = judge(this.#parts.own(), peers, quorum);
    if (this.#ended || comparedAt === undefined) return;
    const { logger, observer, condemn } = this.#parts;
    observer.stateCompared(comparedAt);
    if (differing.length === 0) return;
    observer.stateDiffers();
    if (condemnedAt !== undefined) {
      this.end();
      condemn(`the state of this node at index ${condemnedAt} is not what a majority holds: replace this node`);
      return;
    }
    for (const { nodeId, index } of differing)
      logger.error({ node: nodeId, index }, 'another node holds another state at the same index: one must be replaced');
  }

  #wait(delayMs: number): void {
    if (this.#ended) return;
    this.#cancel = this.#parts.clock.after(delayMs, () => void this.compare().then(() => this.#wait(everyMs)));
  }

  async #answers({ id: self, config }: MemberStatus): Promise<HashedPeer[]> {
    const others = config.members.filter(({ id }) => id !== self);
    const answers = await Promise.all(
      others.map(async (member) => {
        const hashes = await this.#parts.ask(member);
        const { nodeId } = identityOf(member.id);
        return hashes && { nodeId, votes: config.voters.includes(member.id), hashes };
      }),
    );
    return answers.filter((answer) => answer !== undefined);
  }
}
