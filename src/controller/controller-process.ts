// Composition of the controller's process: access to the cluster and to Sluice, watches, election, probes.
import { createServer, type Server, type ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { findCluster, thisMachine } from '../kubernetes/cluster-access.ts';
import { KubernetesApi } from '../kubernetes/kubernetes-api.ts';
import { LeaderElection } from '../kubernetes/leader-election.ts';
import type { Logger } from '../telemetry/logger.ts';
import { systemClock } from '../util/clock.ts';
import { ClusterWatches } from './cluster-watches.ts';
import { Controller } from './controller.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import type { ControllerSettings } from './controller-settings.ts';
import { SluiceApi } from './publish/sluice-api.ts';

export interface ControllerProcess {
  stop(): Promise<void>;
}

/** Starts the controller. Rejects when there is no cluster, or the address of the probes cannot be had. */
export async function startController(settings: ControllerSettings, logger: Logger): Promise<ControllerProcess> {
  const access = await findCluster(thisMachine);
  if (access === undefined)
    throw new Error('there is no cluster: neither a service account nor a kubeconfig was found');
  const clock = systemClock;
  const kubernetes = new KubernetesApi(access);
  const sluice = new SluiceApi(settings.sluice);
  const instance = settings.election?.identity ?? hostname();
  const metrics = new ControllerMetrics({
    isLeading: () => election?.isLeading ?? true,
    entities: () => controller.model.entities.size,
    isReady: () => watches.isReady,
    lostWatches: () => watches.losses().length,
  });
  const tools = { kubernetes, sluice, clock, logger, instance, metrics };
  const controller: Controller = new Controller(settings.controller, tools, () => watches.isReady);
  const watches: ClusterWatches = new ClusterWatches(
    controller.model.graph.store,
    { api: kubernetes, clock, logger, random: Math.random },
    {
      endpoints: settings.controller.endpoints,
      onObject: (kind, key, object) => controller.take(kind, key, object),
      onListed: () => controller.gather(),
    },
  );
  const election: LeaderElection | undefined =
    settings.election &&
    new LeaderElection(settings.election, {
      api: kubernetes,
      clock,
      logger,
      onLead: (term) => controller.lead(term),
      onFollow: () => controller.follow(),
    });
  const readiness = () => ({ isReady: watches.isReady, losses: watches.losses() });
  const server = await serveProbes(settings, readiness, metrics);
  if (election === undefined) controller.lead(0);
  else election.start();
  return {
    async stop() {
      watches.close();
      controller.close();
      await election?.close();
      await Promise.all([kubernetes.close(), sluice.close()]);
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Readiness {
  readonly isReady: boolean;
  readonly losses: readonly { readonly kind: string; readonly reason: string }[];
}

/** Serves `/healthz`, `/readyz` and `/metrics`. A standby is ready: it knows the cluster and could lead. */
function serveProbes(
  { admin }: ControllerSettings,
  readiness: () => Readiness,
  { registry }: ControllerMetrics,
): Promise<Server> {
  const answer = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    if (request.url === '/healthz') return answer(response, 200, { status: 'ok' });
    if (request.url === '/metrics') return void serveMetrics(registry, response);
    if (request.url !== '/readyz') return answer(response, 404, { error: 'no such path' });
    const { isReady, losses } = readiness();
    answer(response, isReady ? 200 : 503, { ready: isReady, losses });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: admin.port, ...(admin.host !== '' && { host: admin.host }) }, () => resolve(server));
  });
}

async function serveMetrics(registry: ControllerMetrics['registry'], response: ServerResponse): Promise<void> {
  const text = await registry.metrics();
  response.writeHead(200, { 'content-type': registry.contentType }).end(text);
}
