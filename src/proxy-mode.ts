// Composition of mode `proxy` (fleet.md §2): starts and stops the data plane, the stream that feeds it, the config cache and
// the admin port. Nothing of the API, the log or the store is loaded.

import { resolve } from 'node:path';
import { guardAgainstPages } from './api/browser-guard.ts';
import { Acknowledgements } from './control-plane-client/acknowledgements.ts';
import { AdminServer, type AdminServerOptions } from './control-plane-client/admin-server.ts';
import { Answers } from './control-plane-client/answers.ts';
import { Attempts } from './control-plane-client/attempts.ts';
import { CopyKeeper } from './control-plane-client/cache-writer.ts';
import { ControlPlaneLink } from './control-plane-client/control-plane-link.ts';
import { EventCounts } from './control-plane-client/event-counts.ts';
import { leaseReports } from './control-plane-client/lease-reports.ts';
import { identityHeaders, newBoot, proxyId } from './control-plane-client/proxy-identity.ts';
import { ProxyPages } from './control-plane-client/proxy-pages.ts';
import { RemoteSource } from './control-plane-client/remote-source.ts';
import { dataPlaneOf } from './data-plane.ts';
import type { ListenerReport } from './model/answers/proxy-messages.ts';
import type { OwnPlace } from './model/listener-place.ts';
import { TrafficWindows, type VariantCounts } from './model/traffic-windows.ts';
import { tracesOf } from './process-traces.ts';
import { FencedLogPaths } from './proxy/access-log/log-paths.ts';
import type { CandidateResult } from './proxy/candidate-controller.ts';
import type { Proxy as DataPlane, InstallResult } from './proxy/proxy.ts';
import { CertificateEnds } from './proxy/tls/certificate-ends.ts';
import type { ReadyThreads } from './proxy/worker/ready-threads.ts';
import { type Address, formatAddress } from './settings/address.ts';
import type { ProxySettings } from './settings/proxy-settings.ts';
import type { Settings } from './settings/settings.ts';
import { listenFailure } from './start-failure.ts';
import type { Logger, RootLogger } from './telemetry/logger.ts';
import type { Exposition } from './telemetry/metrics.ts';
import { measureThread, newVitalBytes, readVitals } from './telemetry/thread-vitals.ts';
import { TrafficSampler } from './traffic/traffic-sampler.ts';
import { systemClock } from './util/clock.ts';

export interface ProxyProcess {
  readonly id: string;
  /** Address of the admin port, `host:port`; undefined without one. */
  readonly adminAddress: string | undefined;
  /** Resolves when the first configuration is live, from the copy or from a control plane. */
  readonly ready: Promise<void>;
  /** Reopens access logs whose files were moved away. */
  reopenLogs(): void;
  /** Drains and closes everything; resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

/** @param threads for its workers; they have begun already. */
export async function startProxy(
  settings: Settings,
  logger: RootLogger,
  version: string,
  threads: ReadyThreads,
): Promise<ProxyProcess> {
  const own = settings.proxy;
  const storePath = resolve(own.storePath);
  const { id, notKept } = await proxyId(own.id, storePath);
  if (notKept !== undefined) {
    const about = { id, storePath, reason: notKept };
    logger.warn(
      about,
      'proxy.storePath cannot be written: the id lasts for this process only, and no last good copy is kept',
    );
  }
  const traces = await tracesOf(settings, { instanceId: id, version }, logger);
  const boot = newBoot();
  const link = new ControlPlaneLink({ tls: own.tls, apiKey: own.apiKey, clock: systemClock });
  const source = new RemoteSource({
    link,
    attempts: new Attempts(own.controlPlaneUrls, own.reconnectIntervalMs, Math.random),
    headers: identityHeaders({ id, boot, labels: own.labels, version }),
    clock: systemClock,
    logger,
  });
  const ready = Promise.withResolvers<void>();
  const settled = (outcome: InstallResult): void => {
    const { tookMs, problems } = outcome;
    const isLive = outcome.refusal === undefined;
    const arrival = source.settle(outcome.config.order, { isLive, problems });
    if (arrival === undefined) return;
    if (arrival.from === 'stream') acknowledgements.settled(arrival, { isLive, tookMs });
    if (isLive) {
      keeper.keep(arrival);
      ready.resolve();
    } else keeper.refused(arrival);
  };
  const tried = ({ candidate, refusal, problems, tookMs }: CandidateResult): void => {
    if (refusal === undefined) traffic.begin(candidate.rollout, served());
    source.candidates.settle(candidate.rollout, { isLive: refusal === undefined, problems, tookMs });
  };
  const bound: { admin?: Address | undefined } = {};
  const dataPlane = dataPlaneOf(settings, {
    source,
    leases: leaseReports({ link, boot, stream: () => source.stream }),
    ownPlaces: () => placesOf(bound.admin),
    logPaths: new FencedLogPaths(storePath, own.accessLogDirectories),
    logger: logger.module('proxy'),
    traces,
    onSettled: settled,
    onCandidate: tried,
    ready: threads,
  });
  const traffic = new TrafficWindows();
  const served = (): VariantCounts => ({
    stable: dataPlane.figures('stable'),
    candidate: dataPlane.figures('candidate'),
  });
  const sampler = new TrafficSampler({
    recent: dataPlane.recent,
    counts: served,
    clock: systemClock,
    isReported: true,
  });
  sampler.start();
  const acknowledgements = new Acknowledgements({
    link,
    boot,
    listeners: () => reportsOf(dataPlane),
    traffic: () => {
      if (dataPlane.candidate() === undefined) traffic.begin(null, served());
      return traffic.report(served());
    },
    subjects: () => sampler.report(),
    isTrying: () => dataPlane.candidate() !== undefined,
    onContact: () => source.candidates.contact(),
    onUnknownStream: (reason) => source.reconnect(reason),
    clock: systemClock,
    logger,
  });
  const answers = new Answers({
    link,
    boot,
    stream: () => source.stream,
    recorded: async (question) => {
      const { answerPage } = await import('./request-log/page-answers.ts');
      return answerPage(dataPlane.recent, question);
    },
    logger,
  });
  const keeper = new CopyKeeper({
    own,
    storePath,
    source,
    clock: systemClock,
    logger,
    hasWarned: notKept !== undefined,
  });
  const pages = new ProxyPages({
    id,
    source,
    keeper,
    listeners: () => dataPlane.listeners(),
    candidate: () => {
      const { rollout, share, config } = dataPlane.candidate() ?? {};
      return rollout === undefined || share === undefined || config === undefined
        ? undefined
        : { rollout, share, snapshotId: config.id };
    },
    clock: systemClock,
  });
  const counts = new EventCounts();
  const ends = new CertificateEnds();
  source.subscribe((config) => ends.take(config));
  source.cookieKeys.subscribe(() => source.installed && keeper.keep(source.installed));
  const vitals = newVitalBytes();
  measureThread(vitals, systemClock);
  // Loaded by the first scrape: the module is a tenth of the memory of the process.
  let metrics: Promise<() => Promise<Exposition>> | undefined;
  const loadMetrics = (): Promise<() => Promise<Exposition>> => {
    metrics ??= import('./control-plane-client/proxy-metrics.ts').then(({ proxyMetrics }) =>
      proxyMetrics({
        source,
        keeper,
        counts,
        threads: () => [{ thread: 'main', vitals: readVitals(vitals) }, ...dataPlane.threads()],
        upstreams: () => dataPlane.upstreams(),
        clients: () => dataPlane.clients(),
        leases: () => dataPlane.leases(),
        surroundings: {
          listeners: () => dataPlane.listeners(),
          certificates: () => ends.all,
          directories: [storePath],
          lostLines: () => ({ process: logger.lostLines(), access: dataPlane.lostLogLines() }),
        },
        clock: systemClock,
      }),
    );
    return metrics;
  };
  source.observe({
    opened: (stream) => acknowledgements.opened(stream),
    closed: () => acknowledgements.closed(),
    unusable: (problems, place) => acknowledgements.unusable(problems, place),
    tried: (word) => acknowledgements.tried(word),
    confirmed: (installed) => {
      acknowledgements.settled(installed, { isLive: true, tookMs: 0 });
      keeper.keep(installed);
    },
    heard: (event) => counts.heard(event),
    asked: (data) => void answers.onQuestion(data),
  });
  const admin = await openAdmin(own, { ...pages.byPath, ...livePages(id, dataPlane, loadMetrics) }, logger);
  bound.admin = admin?.address;
  await keeper.begin();
  const starting = dataPlane.start();
  // The cached configuration is live before a control plane is asked.
  if (keeper.ageSeconds !== undefined) await starting;
  source.start();
  await starting;
  return {
    id,
    adminAddress: admin && formatAddress(admin.address),
    ready: ready.promise,
    reopenLogs: () => dataPlane.reopenLogs(),
    async stop() {
      pages.withdraw();
      source.close();
      acknowledgements.closed();
      sampler.close();
      link.close();
      await dataPlane.close({ withinMs: settings.controlPlane.shutdownTimeoutMs });
      await keeper.settled();
      await traces?.close();
      await admin?.server.close();
    },
  };
}

/** Returns the pages of the admin port about traffic. Each loads its module when it is first asked for. */
const livePages = (
  id: string,
  dataPlane: DataPlane,
  loadMetrics: () => Promise<() => Promise<Exposition>>,
): AdminServerOptions['pages'] => ({
  '/metrics': async () => {
    const { contentType, text } = await (await loadMetrics())();
    return { status: 200, type: contentType, body: text };
  },
  '/requests': async (query) => {
    const { RecentRequests } = await import('./request-log/request-log.ts');
    const recent = new RecentRequests({ node: id, source: dataPlane.recent, clock: systemClock });
    const body = await recent.list(query.get('limit') ?? undefined, query.get('where') ?? undefined);
    return { status: 200, type: 'application/json', body };
  },
  '/mirrors/mismatches': async (query) => {
    const { MirrorMismatches } = await import('./request-log/mirror-mismatches.ts');
    const mismatches = new MirrorMismatches({ node: id, source: dataPlane.mismatches });
    const { body } = await mismatches.list(query.get('limit') ?? undefined);
    return { status: 200, type: 'application/json', body };
  },
});

interface OpenAdmin {
  readonly server: AdminServer;
  readonly address: Address;
}

/** Opens the admin port. A configured port is required; failure on the default one costs a warning. */
async function openAdmin(
  { admin: { address, isConfigured } }: ProxySettings,
  pages: AdminServerOptions['pages'],
  logger: Logger,
): Promise<OpenAdmin | undefined> {
  if (address === undefined) return undefined;
  const server = new AdminServer({
    guard: ({ method = '', headers, socket }) =>
      guardAgainstPages({ method, headers, localAddress: socket.localAddress }, []),
    pages,
  });
  try {
    return { server, address: await server.listen(address) };
  } catch (error) {
    const failure = listenFailure('the admin port', 'proxy.admin.address', address, error);
    if (isConfigured) throw failure;
    logger.warn({ reason: failure.message }, 'there is no admin port; set proxy.admin.address to another, or to none');
    return undefined;
  }
}

const placesOf = (admin: Address | undefined): OwnPlace[] =>
  admin === undefined ? [] : [{ owner: 'the admin port (proxy.admin.address)', address: admin.host, port: admin.port }];

const reportsOf = (dataPlane: DataPlane): readonly ListenerReport[] =>
  dataPlane.listeners().map(({ id, state, reason }) => ({
    id,
    state: state === 'closed' ? 'failed' : state,
    ...(reason !== undefined && { reason }),
  }));
