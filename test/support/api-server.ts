import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, type ApiDeps, type ApiOptions, createApi } from '../../src/api/api.ts';
import { Backups } from '../../src/cluster/checkpoints/backup.ts';
import type { Cluster } from '../../src/cluster/members/cluster.ts';
import { ClusterAdmin } from '../../src/cluster/members/cluster-admin.ts';
import { LeaderOperations } from '../../src/cluster/members/leader-operations.ts';
import { LeaderConnections } from '../../src/cluster/relay/leader-connections.ts';
import { agreedFeed } from '../../src/feed/agreed-feed.ts';
import { ChangeStreams } from '../../src/feed/change-streams.ts';
import type { Feed } from '../../src/feed/feed.ts';
import { changesOf } from '../../src/feed/state-changes.ts';
import { findingsOf } from '../../src/findings/findings.ts';
import { CandidateShares } from '../../src/fleet/candidate-shares.ts';
import { Fleet } from '../../src/fleet/fleet.ts';
import { FleetAdmin } from '../../src/fleet/fleet-admin.ts';
import type { NodeDisks } from '../../src/fleet/node-disks.ts';
import { Roster } from '../../src/fleet/roster.ts';
import { noTraffic } from '../../src/model/traffic-windows.ts';
import { Explainer } from '../../src/proxy/explain/explainer.ts';
import { replay } from '../../src/proxy/replay/replay.ts';
import { RequestHistory } from '../../src/proxy/requests/request-history.ts';
import type { SecretFence } from '../../src/settings/control-plane-settings.ts';
import { FencedBodyFiles } from '../../src/snapshot/body-files.ts';
import { thisMachine } from '../../src/snapshot/machine.ts';
import { createSecretSources } from '../../src/snapshot/secret-sources.ts';
import { generationDirectory, LevelStore } from '../../src/state/level-store.ts';
import { LogLevels } from '../../src/telemetry/log-levels.ts';
import { silentLogger } from '../../src/telemetry/logger.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { FleetTraffic } from '../../src/traffic/fleet-traffic.ts';
import { NodeTraffic } from '../../src/traffic/node-traffic.ts';
import { type Clock, systemClock } from '../../src/util/clock.ts';
import { ClusterOf, statusOfOne } from './cluster-of.ts';
import { type Answer, type CallOptions, call } from './http-call.ts';
import { leadingDesk } from './lease-desk.ts';
import { type NodeOfOne, nodeOfOne } from './node-of-one.ts';

export interface ServerSetup extends Partial<Omit<ApiDeps, 'options' | 'cluster'>> {
  /** A cluster of one otherwise. */
  readonly cluster?: Cluster;
  readonly options?: Partial<ApiOptions>;
  readonly clock?: Clock;
  /** Environment of the node. */
  readonly env?: Readonly<Record<string, string>>;
  readonly fence?: SecretFence;
  /** Turns encryption at rest on. */
  readonly encryptionKey?: Uint8Array;
  /** Disks of the node. Default: it has none. */
  readonly disks?: () => Promise<NodeDisks>;
}

/** A real API over a real state in a directory of its own, in this process. */
export class ApiServer {
  readonly api: Api;
  readonly feed: Feed;
  readonly directory: string;
  readonly #scheme: string;
  readonly #node: NodeOfOne;
  readonly #connections: LeaderConnections;

  private constructor(parts: {
    api: Api;
    feed: Feed;
    directory: string;
    scheme: string;
    node: NodeOfOne;
    connections: LeaderConnections;
  }) {
    this.api = parts.api;
    this.feed = parts.feed;
    this.directory = parts.directory;
    this.#scheme = parts.scheme;
    this.#node = parts.node;
    this.#connections = parts.connections;
  }

  static async start({
    options,
    env = {},
    fence = {},
    encryptionKey,
    cluster,
    disks,
    ...deps
  }: ServerSetup = {}): Promise<ApiServer> {
    const directory = await mkdtemp(join(tmpdir(), 'sluice-api-'));
    const store = await LevelStore.open(generationDirectory(directory, 1));
    const node = await nodeOfOne({ store, clock: systemClock, encryptionKey });
    const { log, state } = node;
    const clock = deps.clock ?? systemClock;
    const feed = agreedFeed(state.view, log);
    const explainer = new Explainer();
    const shares = new CandidateShares(feed);
    const fleet = new Fleet({
      nodeId: 'single',
      shares,
      clusterId: () => state.identity.clusterId,
      source: feed,
      clock,
      logger: deps.logger ?? silentLogger,
      newRandom: () => randomBytes(12).toString('base64url'),
      onConverged: () => undefined,
    });
    const peers = async () => [];
    const roster = new Roster({ peers, own: () => fleet.liveIds(), clock });
    const leases = leadingDesk('single', fleet, clock);
    const admin = new FleetAdmin({
      ...{ nodeId: 'single', fleet, roster, peers, leases, clock, logger: silentLogger },
      ...(disks && { disks }),
    });
    const connections = new LeaderConnections({ tls: undefined, clock });
    const api = await createApi({
      cluster: {
        admin: new ClusterAdmin(cluster ?? new ClusterOf(statusOfOne, false), clock),
        leader: new LeaderOperations(connections),
        backups: new Backups({
          state,
          log,
          clusterId: () => state.identity.clusterId,
          openOptions: { encryptionKey, randomBytes },
          clock,
        }),
      },
      recent: new RequestHistory(undefined),
      traffic: new FleetTraffic({
        own: new NodeTraffic({
          recent: deps.recent ?? new RequestHistory(undefined),
          counts: () => ({ stable: noTraffic, candidate: noTraffic }),
          clock,
        }),
        peers,
        clock,
        nameOf: (kind, id) => state.view.get(kind, id)?.name,
      }),
      changes: new ChangeStreams(changesOf(state.view, log), clock),
      nodeId: 'single',
      logLevels: new LogLevels('info'),
      fleet: { admin, follower: (request) => fleet.follower(request), candidates: shares },
      view: state.view,
      log,
      feed,
      clock,
      logger: silentLogger,
      metrics: new Metrics(),
      secretSources: createSecretSources(
        { ...thisMachine, env },
        fence ?? {},
        new FencedBodyFiles(thisMachine, '/nonexistent', []),
      ),
      checkConfig: () => ({ problems: [], warnings: [] }),
      find: (configuration, holdsSecret) => findingsOf(configuration, { holdsSecret, nowMs: clock.nowMs() }),
      replay,
      explain: (key, configuration, question) => explainer.explain(key, configuration, question),
      installed: async () => ({ done: 2, of: 2, closed: [] }),
      health: () => ({ ready: true, reason: '' }),
      clusterId: () => state.identity.clusterId,
      options: {
        address: { host: '127.0.0.1', port: 0 },
        apiKeys: [],
        allowedHosts: [],
        shutdownTimeoutMs: 30_000,
        ...options,
      },
      ...deps,
    });
    const scheme = options?.tls === undefined ? 'http' : 'https';
    const server = new ApiServer({ api, feed, directory, scheme, node, connections });
    try {
      await api.listen();
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  get base(): string {
    return `${this.#scheme}://127.0.0.1:${this.api.address.port}`;
  }

  /** A request to a path under /api/v1, or to one that begins with two slashes, from the root. */
  async call(method: string, path: string, options?: CallOptions): Promise<Answer> {
    return await call(this.base, method, path.startsWith('//') ? path.slice(1) : `/api/v1${path}`, options);
  }

  async stop(): Promise<void> {
    await this.api.close();
    await this.#connections.close();
    await this.#node.close();
    await rm(this.directory, { recursive: true, force: true });
  }
}
