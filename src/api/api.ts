// The control plane's REST API as one object: main.ts hands in the state, the log and the settings as values, then
// listens and closes. Everything that the operations need is made here, once.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Provider, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { ReplicatedLog } from '../cluster/log/replicated-log.ts';
import type { PeerServer } from '../cluster/peers/peer-server.ts';
import type { RelayServer } from '../cluster/relay/relay-server.ts';
import type { HashServer } from '../cluster/state-hash/hash-server.ts';
import { ChangeStreams } from '../feed/change-streams.ts';
import { type CandidateSource, type Follower, SnapshotStreams, type StreamGate } from '../feed/sse.ts';
import type { FleetAdmin } from '../fleet/fleet-admin.ts';
import { editableKinds } from '../model/kinds.ts';
import type { ManagedKeys } from '../model/managed-keys.ts';
import type { MismatchSource } from '../model/mirror-mismatch.ts';
import type { ConfigSource } from '../model/proxy-config.ts';
import type { RecentSource } from '../model/recent-request.ts';
import { MirrorMismatches } from '../request-log/mirror-mismatches.ts';
import { ownRecords } from '../request-log/record-sources.ts';
import { RecentRequests } from '../request-log/request-log.ts';
import type { Installed } from '../resources/activation-report.ts';
import type { Converge } from '../resources/activation-wait.ts';
import { ActivationService } from '../resources/activations/activation.service.ts';
import { BatchService } from '../resources/batch/batch.service.ts';
import { DiffService, type RecordersFor, type Replay } from '../resources/diff/diff.service.ts';
import { type Explain, ExplainService } from '../resources/explain/explain.service.ts';
import { FindingsService } from '../resources/findings/findings.service.ts';
import type { Find } from '../resources/findings/findings-report.ts';
import { liveIdsOf, withLiveIds } from '../resources/live-ids.ts';
import { type NodeChecks, noChecks } from '../resources/node-checks.ts';
import { ResourceService } from '../resources/resource.service.ts';
import { RolloutService } from '../resources/rollouts/rollout.service.ts';
import { type CheckConfig, SnapshotValidator } from '../resources/snapshot-validator.ts';
import { SnapshotService } from '../resources/snapshots/snapshot.service.ts';
import { StagedService } from '../resources/staged/staged.service.ts';
import { StateReader } from '../resources/state-reader.ts';
import type { ApiKey } from '../settings/auth-settings.ts';
import type { ApiTls } from '../settings/control-plane-settings.ts';
import type { SecretSources } from '../snapshot/secret-sources.ts';
import type { StateView } from '../state/view.ts';
import { ApiMetrics } from '../telemetry/api-metrics.ts';
import type { LogLevels } from '../telemetry/log-levels.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Metrics } from '../telemetry/metrics.ts';
import type { CertificateEnd } from '../telemetry/surroundings-metrics.ts';
import type { WorkTraces } from '../telemetry/traces/work-traces.ts';
import { FleetTraffic } from '../traffic/fleet-traffic.ts';
import type { Clock } from '../util/clock.ts';
import { ApiKeys } from './api-keys.ts';
import { appModule } from './app.module.ts';
import { Authorizer } from './authorizer.ts';
import { ShownCertificates } from './certificates.controller.ts';
import { ClusterOperations, type ClusterOperationsOptions } from './cluster-operations.ts';
import { CookieKeyOperations } from './cookie-key-operations.ts';
import { EndpointOperations, type KnownEndpoints } from './endpoint-operations.ts';
import { ErrorFilter } from './error-filter.ts';
import { FleetOperations } from './fleet-operations.ts';
import { KeyOperations } from './key-operations.ts';
import { LogLevelOperations } from './log-level-operations.ts';
import { openApiDocument } from './openapi.ts';
import { OpenApiText } from './openapi-text.ts';
import { PeerRoutes } from './peer-routes.ts';
import { type Health, Readiness } from './readiness-page.ts';
import { RevokedAnswers } from './revoked-answers.ts';
import { type Address, RunningApi } from './running-api.ts';
import { type ConnectionLimits, createServer } from './server.ts';

/** The part of `controlPlane` in the settings that the API needs. */
export interface ApiOptions {
  readonly address: Address;
  readonly tls?: ApiTls;
  /** API keys; with an empty list every caller is an admin. */
  readonly apiKeys: readonly ApiKey[];
  readonly allowedHosts: readonly string[];
  /** Milliseconds that requests in flight get at most; never more than five seconds (contract.md §1.8). */
  readonly shutdownTimeoutMs: number;
  /** Limits of clients. Default: those of `server.ts`. */
  readonly limits?: Partial<ConnectionLimits>;
}

export interface ApiDeps {
  readonly view: StateView;
  readonly log: ReplicatedLog & { onRound(subscriber: () => void): unknown };
  readonly feed: ConfigSource;
  readonly options: ApiOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Undefined: nothing is traced. */
  readonly traces?: WorkTraces | undefined;
  /** Environment and files of this node, behind the fences of its settings. */
  readonly secretSources: SecretSources;
  readonly checkConfig: CheckConfig;
  /** Checks of a configuration that only this node can make. Default: none. */
  readonly node?: NodeChecks | undefined;
  readonly explain: Explain;
  readonly find: Find;
  readonly replay: Replay;
  readonly installed: Installed;
  /** Returns whether the time for the confirmation of an activation, by its index, is over. Default: the log alone says so. */
  readonly isConfirmationOver?: (index: number) => boolean;
  readonly health: () => Health;
  readonly clusterId: () => string;
  /** Returns whether proxies should follow another node. Default: never. */
  readonly standing?: (StreamGate & { readonly removal: string | undefined }) | undefined;
  readonly cluster: ClusterOperationsOptions;
  /** Takes writes of other nodes; undefined without a cluster. */
  readonly relay?: RelayServer | undefined;
  /** Log levels of the modules of this process. */
  readonly logLevels: LogLevels;
  /** Requests that this node's proxy has answered lately. */
  readonly recent: RecentSource;
  /** Processes whose recent requests are replayed. Default: this node. */
  readonly recorders?: RecordersFor | undefined;
  /** Mismatches of the mirrors of this node's proxy. Default: none. */
  readonly mismatches?: MismatchSource | undefined;
  /** State of the destinations of this node's proxy. Default: none is active. */
  readonly endpoints?: (() => KnownEndpoints) | undefined;
  /** Certificates that this node shows. Default: none. */
  readonly certificates?: (() => readonly CertificateEnd[]) | undefined;
  /** Traffic of the whole fleet. */
  readonly traffic: FleetTraffic;
  /** Streams of changes of the state. */
  readonly changes: ChangeStreams;
  /** Name of this node. */
  readonly nodeId: string;
  readonly fleet: {
    readonly admin: FleetAdmin;
    readonly follower: (request: IncomingMessage) => Follower;
    /** Candidates of rollouts. Default: none. */
    readonly candidates?: CandidateSource;
  };
  /** Answers other nodes about the proxies of this one; undefined without a cluster. */
  readonly peers?: PeerServer | undefined;
  /** Answers other nodes with the state hashes of this one; undefined without a cluster. */
  readonly hashes?: HashServer | undefined;
}

export interface Api {
  /** Resolves once connections are accepted; rejects when the address is taken. */
  listen(): Promise<void>;
  /** Address that it listens on; valid after `listen`. */
  readonly address: Address;
  /** Reports not ready from now on, while requests are taken as before. */
  withdraw(): void;
  /** Closes the API: not ready → streams end → no new connections → requests in flight finish. May be called twice. */
  close(): Promise<void>;
}

export async function createApi(deps: ApiDeps): Promise<Api> {
  const { options, logger, clock, clusterId } = deps;
  const relay = new PeerRoutes(deps.relay, deps.hashes, deps.peers);
  const managed = (): ManagedKeys => deps.view.managedKeys;
  const keys = new ApiKeys({ keys: options.apiKeys, managed, nowMs: () => clock.nowMs() });
  const authorizer = new Authorizer({ keys, allowedHosts: options.allowedHosts, relay, clock });
  deps.log.onRound(() => authorizer.answers.look());
  const readiness = new Readiness(deps.health);
  const isClosing = (): boolean => readiness.closing;
  const { follower, candidates } = deps.fleet;
  const streams = new SnapshotStreams({
    source: deps.feed,
    clock,
    logger,
    clusterId,
    follower,
    candidates,
    gate: deps.standing,
  });
  const recent = new RecentRequests({ node: deps.nodeId, source: deps.recent, clock });
  const adapter = createServer({
    authorizer,
    logger,
    observer: apiMetrics(deps, streams, recent),
    traces: deps.traces,
    isClosing,
    removal: () => deps.standing?.removal,
    clock,
    limits: options.limits,
    ...(options.tls && { tls: options.tls }),
  });
  const document = new OpenApiText();
  const seen = [value(SnapshotStreams, streams), value(OpenApiText, document), value(Metrics, deps.metrics)];
  const own = [value(Readiness, readiness), ...seen];
  const fleet = value(FleetOperations, new FleetOperations(deps.fleet.admin));
  const levels = value(LogLevelOperations, new LogLevelOperations(deps.logLevels, logger));
  const cluster = value(ClusterOperations, new ClusterOperations(deps.cluster));
  const providers = [
    ...own,
    value(PeerRoutes, relay),
    value(RevokedAnswers, authorizer.answers),
    cluster,
    fleet,
    value(RecentRequests, recent),
    value(MirrorMismatches, mismatchesOf(deps)),
    value(ChangeStreams, deps.changes),
    value(FleetTraffic, deps.traffic),
    value(ShownCertificates, new ShownCertificates(deps.certificates ?? (() => []), clock)),
    levels,
    ...services(deps, keys, isClosing),
  ];
  const app = await NestFactory.create<NestFastifyApplication>(appModule(providers), adapter, {
    logger: false,
    abortOnError: false,
    bodyParser: false,
  });
  app.useGlobalFilters(new ErrorFilter(logger));
  document.set(
    () => openApiDocument(app),
    // The document opens without a key: where there are keys it tells nothing of the node.
    (text) => withLiveIds(text, options.apiKeys.length > 0 ? {} : liveIdsOf(deps.view, deps.nodeId)),
  );
  await app.init();
  return new RunningApi({ app, streams: [streams, recent.streams, deps.changes], readiness, clock, options });
}

const noEndpoints: KnownEndpoints = {
  endpointsOf: () => undefined,
  destinationIds: () => [],
  nameOf: () => undefined,
  circuit: () => undefined,
};

function apiMetrics(
  { metrics, view, feed, recent, changes }: ApiDeps,
  snapshots: SnapshotStreams,
  requests: RecentRequests,
): ApiMetrics {
  let published = 0;
  feed.subscribe(({ index }) => {
    published = index;
  });
  const { streams } = requests;
  return new ApiMetrics(metrics.registry, {
    streams: () => ({
      snapshot: { open: snapshots.size, events: snapshots.sent, dropped: 0 },
      requests: { open: streams.size, ...streams.counts },
      events: { open: changes.size, ...changes.counts },
    }),
    entities: () => ({
      ...Object.fromEntries(editableKinds.map((kind) => [kind, view.list(kind).length])),
      snapshots: view.snapshots().length,
    }),
    published: () => published,
    recent: () => recent.counts,
  });
}

function services(deps: ApiDeps, keys: ApiKeys, isClosing: () => boolean): Provider[] {
  const { view, log, clock, logger, metrics, secretSources, checkConfig, explain, find, installed, fleet } = deps;
  const converge: Converge = (...asked) => fleet.admin.converge(...asked, isClosing);
  const reader = new StateReader({ view, log, counted: (mode) => metrics.read(mode) });
  const newId = randomUUID;
  const recorders = deps.recorders ?? ownRecorders(deps);
  const { node = noChecks } = deps;
  const validator = new SnapshotValidator({ sources: secretSources, checkConfig, node, find });
  const resources = new ResourceService({ reader, log, node, newId, sources: secretSources });
  const { isConfirmationOver = () => false } = deps;
  const parts = { reader, log, newId, clock, logger, validator, node, installed };
  const snapshots = new SnapshotService({ ...parts, converge, isConfirmationOver });
  return [
    value(StateReader, reader),
    value(ResourceService, resources),
    value(SnapshotService, snapshots),
    value(RolloutService, new RolloutService({ reader, log, newId, shadow: (rollout) => fleet.admin.shadow(rollout) })),
    value(ActivationService, new ActivationService({ reader, log, newId, logger, installed, find })),
    value(BatchService, new BatchService({ ...parts, converge })),
    value(StagedService, new StagedService({ reader, log, newId, logger })),
    value(
      EndpointOperations,
      new EndpointOperations({ reader, log, known: deps.endpoints ?? (() => noEndpoints), logger }),
    ),
    value(CookieKeyOperations, new CookieKeyOperations({ reader, log, logger })),
    value(KeyOperations, new KeyOperations({ reader, log, keys, logger })),
    value(FindingsService, new FindingsService({ reader, sources: secretSources, find })),
    value(DiffService, new DiffService({ reader, sources: secretSources, find, replay: deps.replay, recorders })),
    value(ExplainService, new ExplainService({ reader, sources: secretSources, explain })),
  ];
}

const mismatchesOf = ({ nodeId, mismatches = { list: () => [] }, fleet }: ApiDeps): MirrorMismatches =>
  new MirrorMismatches({ node: nodeId, source: mismatches, others: (limit) => fleet.admin.mismatches(limit) });

const ownRecorders =
  ({ nodeId, recent }: ApiDeps): RecordersFor =>
  async (where) => ({ sources: [ownRecords(nodeId, recent, where)], absent: [] });

const value = (provide: Type<unknown>, useValue: object): Provider => ({ provide, useValue });
