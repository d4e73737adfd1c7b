// Admission of a peer once the token was proven: the same cluster, the same key for data at rest, no removed member,
// and no second connection of one member (raft.md A19–A21, architecture.md §7.8 and §7.11).
import type { Greeting } from '../codec/greeting.ts';
import { type MemberId, memberId } from '../core/types.ts';

/** Remembers which run of each identity was met last. One per transport. */
export class PeerAdmission {
  readonly #runs = new Map<MemberId, { readonly boots: number; readonly run: number }>();
  readonly #self: () => Greeting;
  readonly #isRemoved: (id: MemberId) => boolean;

  constructor(self: () => Greeting, isRemoved: (id: MemberId) => boolean) {
    this.#self = self;
    this.#isRemoved = isRemoved;
  }

  isRemoved(peer: Greeting): boolean {
    return this.#isRemoved(memberId(peer));
  }

  /** Why this peer is refused, for its log and ours; undefined lets it in. */
  problem(peer: Greeting): string | undefined {
    const self = this.#self();
    if (self.clusterId !== undefined && peer.clusterId !== undefined && self.clusterId !== peer.clusterId) {
      return `${self.nodeId} belongs to cluster ${self.clusterId}, ${peer.nodeId} to cluster ${peer.clusterId}`;
    }
    if (self.keyFingerprint !== peer.keyFingerprint) return keyProblem(self, peer);
    const id = memberId(peer);
    if (peer.run === self.run) return `${id} met itself`;
    if (id === memberId(self)) return `${id} is here already: its directory was copied`;
    if (this.#isRemoved(id))
      return `${peer.nodeId} was removed from this cluster: to come back it needs an empty store`;
    return this.#twin(id, peer);
  }

  /** A restart counts its boots up. The same count in another run, or a lower one, is a copy of the directory. */
  #twin(id: MemberId, { boots, run }: Greeting): string | undefined {
    const met = this.#runs.get(id);
    if (met !== undefined && met.run !== run && boots <= met.boots) {
      return `${id} was met in another process: its directory was copied`;
    }
    this.#remember(id, { boots, run });
    return undefined;
  }

  #remember(id: MemberId, run: { boots: number; run: number }): void {
    this.#runs.delete(id);
    this.#runs.set(id, run);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > identitiesMax && oldest !== undefined) this.#runs.delete(oldest);
  }
}

const identitiesMax = 256;

function keyProblem(self: Greeting, peer: Greeting): string {
  const state = ({ nodeId, keyFingerprint }: Greeting) =>
    keyFingerprint === '' ? `${nodeId} does not encrypt` : `${nodeId} encrypts with key ${keyFingerprint}`;
  return `data at rest: ${state(self)}, ${state(peer)}`;
}
