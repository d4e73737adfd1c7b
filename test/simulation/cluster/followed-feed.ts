// Feed of a simulated node to its proxies: the product's feed, shares and streams over the agreed state, and the share
// that the proxy within the node serves of a candidate.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { clusterId } from '../../../raft/testing/sim/sim-node.ts';
import type { Proposer } from '../../../src/cluster/log/proposer.ts';
import { ClusterReadiness } from '../../../src/cluster/log/readiness.ts';
import { agreedFeed } from '../../../src/feed/agreed-feed.ts';
import { type Follower, SnapshotStreams } from '../../../src/feed/sse.ts';
import { CandidateShares } from '../../../src/fleet/candidate-shares.ts';
import { RolloutTally } from '../../../src/fleet/rollout-tally.ts';
import { RolloutWatch } from '../../../src/fleet/rollout-watch.ts';
import type { Candidate } from '../../../src/model/proxy-config.ts';
import type { StateView } from '../../../src/state/view.ts';
import { silentLogger } from '../../../src/telemetry/logger.ts';
import type { Clock } from '../../../src/util/clock.ts';

export class FollowedFeed {
  readonly #streams: SnapshotStreams;
  readonly #shares: CandidateShares;
  readonly #connected = new Set<string>();
  /** Candidate of the proxy within the node. */
  own: Candidate | undefined;

  constructor(nodeId: string, view: StateView, log: Proposer, clock: Clock) {
    const feed = agreedFeed(view, log);
    const shares = new CandidateShares(feed);
    const tally = new RolloutTally();
    const proxies = () => [nodeId, ...this.#connected].map((id) => ({ id, state: 'installed' as const }));
    const rolloutWord = () => ({ ...tally.word(), life: nodeId, proxies: proxies() });
    const watch = new RolloutWatch({
      nodeId,
      fleet: { rolloutWord },
      shares,
      peers: async () => [],
      cluster: log,
      clock,
    });
    this.#shares = shares;
    this.#streams = new SnapshotStreams({
      source: feed,
      clock,
      logger: silentLogger,
      clusterId: () => clusterId,
      follower: (request) => this.#follower(request),
      candidates: shares,
    });
    shares
      .sourceOf(() => ({ id: nodeId, labels: {} }))
      .subscribeCandidate?.((candidate) => {
        this.own = candidate;
      });
    void new ClusterReadiness({ watch: { why: undefined }, log, clock }).whenReady.then(() => watch.caughtUp());
  }

  /** Opens the stream for a client. */
  follow(response: ServerResponse): void {
    this.#streams.attach(response);
  }

  #follower({ headers }: Pick<IncomingMessage, 'headers'>): Follower {
    const id = String(headers['x-sluice-proxy']);
    const [rollout, , heardIndex = 0] = headers['x-sluice-candidate']?.toString().split(' ') ?? [];
    this.#connected.add(id);
    return {
      isOurs: true,
      hasSha256: undefined,
      hasRollout: rollout,
      knownIndex: Number(heardIndex),
      headers: {},
      shareOf: (candidate) => this.#shares.shareOf(candidate, { id, labels: {} }),
      closed: () => void this.#connected.delete(id),
    };
  }
}
