// Composition of mode `controlplane`: starts the parts and stops them, in the order of architecture.md §7.9 and
// §7.10. The only file that imports all parts; it decides nothing itself.
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { DiskProblem } from '../disk/disk-problem.ts';
import { type Api, createApi } from './api/api.ts';
import { Backups } from './cluster/checkpoints/backup.ts';
import type { Core } from './cluster/core.ts';
import { singleNodeId } from './cluster/log/raft-options.ts';
import { ClusterReadiness } from './cluster/log/readiness.ts';
import { handOver } from './cluster/members/cluster.ts';
import { ClusterAdmin } from './cluster/members/cluster-admin.ts';
import { ClusterClock } from './cluster/members/cluster-clock.ts';
import { trustWarning } from './cluster/node-links.ts';
import { CorruptionCheck } from './cluster/state-hash/corruption-check.ts';
import { dataPlaneOf } from './data-plane.ts';
import { agreedFeed } from './feed/agreed-feed.ts';
import { ChangeStreams } from './feed/change-streams.ts';
import type { Feed } from './feed/feed.ts';
import { changesOf } from './feed/state-changes.ts';
import { findingsOf } from './findings/findings.ts';
import { type NodeFleet, nodeFleetOf } from './fleet/node-fleet.ts';
import { fleetRequestOf } from './fleet/peer-requests.ts';
import { ConfirmationController } from './leader/confirmation-controller.ts';
import { ConfirmationFile } from './leader/confirmation-file.ts';
import { CookieKeyController } from './leader/cookie-key-controller.ts';
import { LeaderControllers } from './leader/leader-controllers.ts';
import { ReportedFigures } from './leader/reported-figures.ts';
import { RolloutController } from './leader/rollout-controller.ts';
import { RolloutMetrics } from './leader/rollout-metrics.ts';
import type { OwnPlace } from './model/listener-place.ts';
import { FencedLogPaths, type LogPaths } from './proxy/access-log/log-paths.ts';
import { checkConfig } from './proxy/config-check.ts';
import { Explainer } from './proxy/explain/explainer.ts';
import type { Proxy as DataPlane } from './proxy/proxy.ts';
import { replay } from './proxy/replay/replay.ts';
import { descriptorBounds, descriptorOf } from './proxy/socket/descriptors.ts';
import { CertificateEnds } from './proxy/tls/certificate-ends.ts';
import { ReadyThreads } from './proxy/worker/ready-threads.ts';
import { type Address, formatAddress } from './settings/address.ts';
import type { ControlPlaneSettings } from './settings/control-plane-settings.ts';
import type { Settings } from './settings/settings.ts';
import { type BodyFiles, FencedBodyFiles } from './snapshot/body-files.ts';
import { thisMachine } from './snapshot/machine.ts';
import { listenersOnOwnPorts } from './snapshot/own-ports.ts';
import { createSecretSources } from './snapshot/secret-sources.ts';
import { checkCertificate, listenFailure } from './start-failure.ts';
import { clientMetrics } from './telemetry/client-metrics.ts';
import { leaseMetrics } from './telemetry/lease-metrics.ts';
import type { Logger, RootLogger } from './telemetry/logger.ts';
import { measureLoopLag } from './telemetry/loop-lag.ts';
import { surroundingsMetrics } from './telemetry/surroundings-metrics.ts';
import { threadMetrics } from './telemetry/thread-metrics.ts';
import { measureThread, newVitalBytes, readVitals } from './telemetry/thread-vitals.ts';
import type { Traces } from './telemetry/traces/traces.ts';
import { upstreamMetrics } from './telemetry/upstream-metrics.ts';
import type { FleetTraffic } from './traffic/fleet-traffic.ts';
import { NodeTraffic } from './traffic/node-traffic.ts';
import { systemClock } from './util/clock.ts';

export interface ControlPlane {
  /** `host:port` where the API listens. */
  readonly address: string;
  /** Base URL that works from this machine. */
  readonly url: string;
  readonly storePath: string;
  /** Name of the active snapshot, if there is one. */
  readonly activeSnapshot: string | undefined;
  readonly hasApiKeys: boolean;
  /** Resolves once this node knows a leader and shows what was acknowledged before it started. */
  readonly ready: Promise<void>;
  /** Reopens access logs whose files were moved away. */
  reopenLogs(): void;
  /** Drains and closes everything; resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

export interface ControlPlaneOptions {
  /** Log and state, opened already or just opening. Closed with the rest, and when the start fails. */
  readonly core: Promise<Core>;
  readonly logger: RootLogger;
  /** Called when the store has failed and the settings say `exit`. */
  readonly onFatal: (reason: string) => void;
  /** Called once when this node was removed from its cluster and the settings say `stop`. */
  readonly onRemoved: () => void;
  /** Undefined: nothing is traced. Closed with the rest. */
  readonly traces?: Traces | undefined;
}

export async function startControlPlane(settings: Settings, options: ControlPlaneOptions): Promise<ControlPlane> {
  const { logger } = options;
  const own = settings.controlPlane;
  const storePath = resolve(own.storePath);
  const core = await options.core;
  const { state, log, watch } = core;
  const { traces } = options;
  const feed = agreedFeed(state.view, log, (index) => traces?.work.originOf(index)?.traceparent);
  const fleet = nodeFleetOf(settings, core, feed, logger.module('fleet'));
  const bound: { api?: Api } = {};
  const logPaths = new FencedLogPaths(storePath, settings.proxy.accessLogDirectories);
  const bodyFiles = new FencedBodyFiles(thisMachine, storePath, settings.proxy.bodyDirectories);
  const ownPlaces = (): OwnPlace[] => placesOf(own, bound.api);
  const proxy = dataPlaneOf(settings, {
    source: fleet.source,
    leases: fleet.reportLeases,
    ownPlaces,
    logPaths,
    // Proxy threads load their code while this thread loads that of the API.
    ready: new ReadyThreads(settings.proxy.workers),
    logger: logger.module('proxy'),
    level: logger.levels.cell('proxy'),
    traces,
    onSettled: (outcome) => fleet.own.settled(outcome),
    onCandidate: (outcome) => fleet.own.tried(outcome),
  });
  fleet.own.begin({
    listeners: () => proxy.listeners(),
    figures: () => ({ stable: proxy.figures('stable'), candidate: proxy.figures('candidate') }),
    isTrying: () => proxy.candidate() !== undefined,
  });
  reactToStorageFailure(core, own, options);
  reactToRemoval(core, own, options);
  measureLoopLag(core.metrics, systemClock);
  measureRollouts(core);
  measureThreads(core, proxy, fleet);
  const ends = certificateEndsOf(own, feed);
  measureSurroundings(core, own, { proxy, ends, logger });
  try {
    const readiness = new ClusterReadiness({ log, watch, clock: systemClock });
    const serving = { started: false };
    const clusterClock = new ClusterClock({ cluster: core.raft, log, clock: systemClock });
    const confirmation = new ConfirmationController({
      aheadMs: () => clusterClock.aheadMs,
      memory: await ConfirmationFile.open(storePath),
    });
    // Its port is the API's before any listener can ask for it.
    const api = await startApi(settings, {
      ...core,
      readiness,
      serving,
      feed,
      fleet,
      proxy,
      traces,
      logger,
      ends,
      ownPlaces,
      logPaths,
      bodyFiles,
      confirmation,
      created: (made) => {
        bound.api = made;
      },
    });
    await proxy.start();
    serving.started = true;
    const comparison = comparisonOf(core, logger.module('raft'));
    const leaderControllers = new LeaderControllers({
      log,
      view: state.view,
      clock: systemClock,
      logger,
      controllers: [
        confirmation,
        new RolloutController(new ReportedFigures(() => fleet.words())),
        new CookieKeyController(),
      ],
    });
    void readiness.whenReady.then(() => {
      fleet.caughtUp();
      comparison.start();
      leaderControllers.start();
    });
    return running({
      ...core,
      api,
      proxy,
      fleet,
      comparison,
      leaderControllers,
      own,
      storePath,
      traces,
      ready: readiness.whenReady,
    });
  } catch (error) {
    await bound.api?.close();
    await proxy.close({ withinMs: 0 });
    await core.close();
    throw error;
  }
}

/** Ports of the node; that of the API is known from when it listens. */
function placesOf({ raft }: ControlPlaneSettings, api: Api | undefined): OwnPlace[] {
  const places: OwnPlace[] = [];
  if (raft !== undefined) {
    const { host, port } = raft.bindAddress;
    places.push({ owner: 'raft (controlPlane.raft.bindAddress)', address: host === '' ? '::' : host, port });
  }
  if (api !== undefined) {
    const { host, port } = api.address;
    places.push({ owner: 'the API (controlPlane.address)', address: host, port });
  }
  return places;
}

/** Adds the metrics of all threads; the lag of Raft's thread is in its own families. */
function measureThreads({ metrics, raft }: Core, proxy: DataPlane, { leases }: NodeFleet): void {
  const own = newVitalBytes();
  measureThread(own, systemClock);
  metrics.include(async () => {
    const { thread, counts } = (await raft.status()) ?? {};
    return threadMetrics([
      { thread: 'main', vitals: readVitals(own) },
      ...(thread && counts ? [{ thread: 'raft', vitals: { ...thread, loopLag: counts.loopLag } }] : []),
      ...proxy.threads(),
    ]);
  });
  metrics.include(async () => upstreamMetrics(proxy.upstreams()));
  metrics.include(async () => clientMetrics(proxy.clients()));
  metrics.include(async () => leaseMetrics({ ...proxy.leases(), budgets: leases.size?.budgets }));
}

function certificateEndsOf({ tls, raft }: ControlPlaneSettings, feed: Feed): CertificateEnds {
  const ends = new CertificateEnds({ 'controlPlane.tls': tls?.cert, 'controlPlane.raft.tls': raft?.tls?.cert });
  feed.subscribe((config) => ends.take(config));
  return ends;
}

interface SurroundingParts {
  readonly proxy: DataPlane;
  readonly ends: CertificateEnds;
  readonly logger: RootLogger;
}

function measureSurroundings(
  { metrics }: Core,
  own: ControlPlaneSettings,
  { proxy, ends, logger }: SurroundingParts,
): void {
  const { storePath } = own;
  const surroundings = {
    listeners: () => proxy.listeners(),
    certificates: () => ends.all,
    directories: [storePath],
    lostLines: () => ({ process: logger.lostLines(), access: proxy.lostLogLines() }),
  };
  metrics.include(() => surroundingsMetrics(surroundings));
}

function measureRollouts({ metrics, state, log }: Core): void {
  const rollouts = new RolloutMetrics(state.view);
  metrics.include(async () => rollouts.registry);
  log.onRollout(() => rollouts.changed());
}

function reactToStorageFailure(
  { state, raft }: Core,
  own: ControlPlaneSettings,
  { logger, onFatal }: ControlPlaneOptions,
): void {
  const react = (reason: string): void => {
    if (own.onStorageFailure === 'exit') {
      logger.error({ reason }, 'the store has failed: the process ends, as onStorageFailure says');
      onFatal(reason);
    } else {
      logger.error(
        { reason },
        'the store has failed: writes are refused, traffic goes on as it was; restart when cured',
      );
    }
  };
  state.onFailure(react);
  raft.onFailure(react);
  const reactToWait = (problem: DiskProblem | undefined): void => {
    const reason = problem?.reason;
    if (problem === undefined) logger.info({}, 'the store can be written again: this node goes on');
    else if (problem.kind === 'rejected' && own.onStorageFailure === 'exit') react(problem.reason);
    else
      logger.error(
        { reason },
        'the store cannot be written: writes are refused until it can, traffic goes on as it was',
      );
  };
  state.onWaits(reactToWait);
  raft.onWaits(reactToWait);
}

function reactToRemoval({ raft }: Core, own: ControlPlaneSettings, { logger, onRemoved }: ControlPlaneOptions): void {
  raft.onRemoved(() => {
    if (own.onRemoved === 'serve') {
      logger.error({}, 'this node was removed: it serves the configuration that it had, as onRemoved says');
      return;
    }
    logger.error({}, 'this node was removed: it finishes the requests in flight and stops');
    onRemoved();
  });
}

interface Parts extends Core {
  readonly readiness: ClusterReadiness;
  /** True once the listeners of the configuration known at the start have opened or failed. */
  readonly serving: { readonly started: boolean };
  readonly ends: CertificateEnds;
  readonly ownPlaces: () => readonly OwnPlace[];
  readonly logPaths: LogPaths;
  readonly bodyFiles: BodyFiles;
  /** Called with the API when it listens. */
  readonly created: (api: Api) => void;
  readonly feed: Feed;
  readonly fleet: NodeFleet;
  readonly proxy: DataPlane;
  readonly confirmation: ConfirmationController;
  readonly traces: Traces | undefined;
  readonly logger: RootLogger;
}

async function startApi({ controlPlane: own, proxy: { bindAddress } }: Settings, parts: Parts): Promise<Api> {
  const { raft, state, log, links, metrics, watch, readiness, feed, fleet, proxy, traces, logger } = parts;
  const { serving, ends, ownPlaces, logPaths, bodyFiles, confirmation } = parts;
  checkCertificate(own.tls);
  const explainer = new Explainer(() => proxy.known());
  const api = await createApi({
    view: state.view,
    log,
    feed,
    options: {
      ...own,
      limits: { ...descriptorBounds.api, isScarce: (socket) => descriptorOf(socket) >= descriptorBounds.clients },
    },
    clock: systemClock,
    logger: logger.module('api'),
    logLevels: logger.levels,
    metrics,
    traces: traces?.work,
    secretSources: createSecretSources(thisMachine, own.secretSources ?? {}, bodyFiles),
    checkConfig: (configuration) => checkConfig(configuration, systemClock.nowMs()),
    explain: (key, configuration, question) => explainer.explainAny(key, configuration, question),
    find: (configuration, holdsSecret) =>
      findingsOf(configuration, { holdsSecret, nowMs: systemClock.nowMs(), bindAddress }),
    replay,
    installed: async (index, withinMs) => ({
      ...(await proxy.installed(index, withinMs)),
      closed: proxy.listeners().filter(({ state }) => state !== 'open'),
      warnings: proxy.listeners().flatMap(({ state, warnings = [] }) => (state === 'open' ? warnings : [])),
    }),
    isConfirmationOver: (index) => confirmation.isOver(index, systemClock.monotonicMs()),
    node: {
      checkListeners: (listeners) => listenersOnOwnPorts(listeners, ownPlaces(), bindAddress),
      async refusalOfLog(path) {
        const place = await logPaths.place(path);
        return place.kind === 'refused' ? place.why : undefined;
      },
      refusalOfBody: (path) => bodyFiles.refusal(path),
    },
    health: () => {
      const waits = log.waits === undefined ? undefined : 'waits';
      const storage = log.failed === undefined ? waits : 'failed';
      const reason = serving.started ? readiness.reason : 'the listeners are not open yet';
      return { ready: serving.started && readiness.ready && storage === undefined, storage, reason };
    },
    clusterId: () => raft.clusterId ?? state.identity.clusterId,
    standing: watch,
    cluster: {
      admin: new ClusterAdmin(raft, systemClock, watch),
      leader: links.leader,
      backups: backupsOf(own, parts),
    },
    relay: links.server(log, (bytes) => state.decode(bytes)),
    recent: proxy.recent,
    recorders: fleet.recordRequests(proxy.recent, proxy.mismatches),
    mismatches: proxy.mismatches,
    changes: changeStreamsOf(parts),
    traffic: trafficOf(parts),
    endpoints: () => proxy.known(),
    certificates: () => ends.all,
    nodeId: own.raft?.nodeId ?? singleNodeId,
    fleet: { admin: fleet.admin, follower: (request) => fleet.fleet.follower(request), candidates: fleet.shares },
    peers: links.peerServer({ answer: (question) => fleet.admin.answer(fleetRequestOf(question)) }),
    hashes: links.hashServer({ member: async () => (await raft.status())?.id, hashes: () => state.hashes }),
  });
  await api.listen().catch((error: unknown) => {
    throw listenFailure('the API', 'controlPlane.address', own.address, error);
  });
  parts.created(api);
  warnOfExposure(own, api.address, logger);
  const warning = trustWarning(own);
  if (warning !== undefined) logger.warn({}, warning);
  return api;
}

function trafficOf({ state, fleet, proxy }: Parts): FleetTraffic {
  const counts = () => ({ stable: proxy.figures('stable'), candidate: proxy.figures('candidate') });
  const own = new NodeTraffic({ recent: proxy.recent, counts, clock: systemClock });
  return fleet.countTraffic(own, (kind, id) => state.view.get(kind, id)?.name);
}

function changeStreamsOf({ state, log, raft, fleet }: Parts): ChangeStreams {
  const streams = new ChangeStreams(changesOf(state.view, log), systemClock);
  raft.onRole(() => streams.outside('members'));
  fleet.subscribe(() => streams.outside('fleet'));
  return streams;
}

function comparisonOf({ raft, state, links, metrics }: Core, logger: Logger): CorruptionCheck {
  return new CorruptionCheck({
    cluster: raft,
    own: () => state.hashes,
    ask: (member) => links.hashes.ask(member),
    condemn: raft.node.condemn,
    observer: metrics,
    logger,
    clock: systemClock,
  });
}

function backupsOf({ encryptionKey }: ControlPlaneSettings, { state, log, raft }: Parts): Backups {
  const openOptions = { encryptionKey, randomBytes };
  return new Backups({ state, log, clusterId: () => raft.clusterId, openOptions, clock: systemClock });
}

/** Warns of an API without keys that other machines can reach, which is allowed (security.md S21). */
function warnOfExposure(
  { apiKeys, tls, secretSources }: ControlPlaneSettings,
  { host }: Address,
  logger: Logger,
): void {
  const isLoopback = host === '::1' || host === 'localhost' || host.startsWith('127.');
  const isMutual = tls !== undefined && tls.clientAuth === 'require';
  if (isLoopback || apiKeys.length > 0 || isMutual) return;
  logger.warn(
    { address: host },
    'the API is reachable from elsewhere and has no API keys: set controlPlane.auth.apiKeys',
  );
  if (secretSources !== undefined) return;
  logger.warn(
    {},
    'anyone who reaches the API may read environment and files through secrets: set controlPlane.secretSources',
  );
}

/** Milliseconds that the drain waits for another leader (architecture.md §7.10). */
const handOverMs = 1_000;

interface RunningParts extends Core {
  readonly api: Api;
  readonly fleet: NodeFleet;
  readonly proxy: DataPlane;
  readonly comparison: CorruptionCheck;
  readonly leaderControllers: LeaderControllers;
  readonly own: ControlPlaneSettings;
  readonly storePath: string;
  readonly traces: Traces | undefined;
  readonly ready: Promise<void>;
}

function running({
  api,
  proxy,
  fleet,
  comparison,
  leaderControllers,
  state,
  raft,
  close,
  own,
  storePath,
  traces,
  ready,
}: RunningParts): ControlPlane {
  const { view } = state;
  return {
    address: formatAddress(api.address),
    url: `${own.tls ? 'https' : 'http'}://${formatAddress(reachable(api.address))}`,
    storePath,
    activeSnapshot: view.active && view.snapshot(view.active.snapshotId)?.name,
    hasApiKeys: own.apiKeys.length > 0,
    ready,
    reopenLogs: () => proxy.reopenLogs(),
    async stop() {
      api.withdraw();
      comparison.end();
      fleet.close();
      leaderControllers.end();
      await handOver(raft, systemClock, handOverMs);
      await Promise.all([api.close(), proxy.close({ withinMs: own.shutdownTimeoutMs })]);
      await close();
      await traces?.close();
    },
  };
}

/** An address for a person to type: all interfaces are reached through loopback. */
function reachable({ host, port }: Address): Address {
  const isAll = host === '' || host === '::' || host === '0.0.0.0';
  return { host: isAll ? '127.0.0.1' : host, port };
}
