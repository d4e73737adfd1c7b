// Stands in for a node's kubelet and the scheduler: runs every pod of the cluster as processes of this machine.
//
//   node kubelet.mjs --server URL --token TOKEN --ca FILE --folder FOLDER --image NAME=PROGRAM…
//
// It registers a node, binds pending pods to it, gives each a network namespace with an address of its own, reports
// it ready once it serves, ends it when its pod is deleted, and answers the API server's requests for logs.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { parseArgs } from 'node:util';
import { Api } from './api.mjs';
import { ClusterDns } from './dns.mjs';
import { PodNetwork } from './network.mjs';
import { Pod } from './pod.mjs';

const NODE = 'sluice-node';
const { values: options } = parseArgs({
  options: {
    server: { type: 'string' },
    token: { type: 'string' },
    ca: { type: 'string' },
    folder: { type: 'string' },
    address: { type: 'string', default: '10.244.0.1' },
    bridge: { type: 'string', default: 'pods' },
    image: { type: 'string', multiple: true, default: [] },
    cert: { type: 'string' },
    key: { type: 'string' },
  },
});

const api = new Api({ server: options.server, token: options.token, caFile: options.ca });
const network = new PodNetwork({ bridge: options.bridge, prefix: options.address.split('.').slice(0, 2).join('.') });
const programs = options.image.map((pair) => pair.split('='));
const images = (image) => programs.find(([name]) => image.split('/').at(-1).split(':')[0] === name)?.[1];
const server = new URL(options.server);
const access = { host: options.address, port: server.port, dns: options.address };
const context = { api, network, images, folder: options.folder, access };
const ended = new AbortController();

/** By uid. An entry stays until its pod has left the API, so that a pod is started once. */
const pods = new Map();

/** Pods that are on their way out, by uid. */
const ending = new Set();

await registerNode();
serveLogs();
new ClusterDns({ api, addressOfPod }).listen(options.address);
for await (const event of api.follow('/api/v1/pods', ended.signal)) {
  if (event.type === 'reset') {
    const present = new Set(event.objects.map((pod) => pod.metadata.uid));
    for (const uid of pods.keys()) if (!present.has(uid)) void forget(uid);
    for (const pod of event.objects) void consider(pod);
  } else if (event.type === 'DELETED') {
    void forget(event.object.metadata.uid);
  } else {
    void consider(event.object);
  }
}

async function consider(object) {
  const { uid, name, namespace, deletionTimestamp } = object.metadata;
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  try {
    if (deletionTimestamp) {
      if (ending.has(uid)) return;
      ending.add(uid);
      await sleepBeforeStop(object);
      await forget(uid);
      ending.delete(uid);
      await api.delete(path, { gracePeriodSeconds: 0, preconditions: { uid } });
    } else if (!object.spec.nodeName) {
      await api.post(`${path}/binding`, {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name },
        target: { kind: 'Node', name: NODE },
      });
    } else if (object.spec.nodeName === NODE && !pods.has(uid)) {
      await start(object, path);
    }
  } catch (error) {
    if (error.status !== 404 && error.status !== 409) console.error(`${namespace}/${name}: ${error.message}`);
  }
}

async function start(object, path) {
  const pod = new Pod(object, context);
  pods.set(object.metadata.uid, { pod, namespace: object.metadata.namespace, name: object.metadata.name });
  try {
    await pod.start();
    await api.patch(`${path}/status`, { status: runningStatus(object, pod) });
    console.log(`${object.metadata.namespace}/${object.metadata.name} serves at ${pod.address}`);
  } catch (error) {
    if (error.status === 404) return;
    await api
      .patch(`${path}/status`, { status: { phase: 'Failed', reason: 'StartError', message: error.message } })
      .catch(() => {});
    throw error;
  }
}

/** `preStop.sleep` of a pod: it serves on while others learn that it goes. */
async function sleepBeforeStop({ spec }) {
  const seconds = Math.max(0, ...spec.containers.map(({ lifecycle }) => lifecycle?.preStop?.sleep?.seconds ?? 0));
  if (seconds > 0) await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}

async function forget(uid) {
  const entry = pods.get(uid);
  if (entry === undefined) return;
  pods.delete(uid);
  await entry.pod.stop().catch((error) => console.error(`${entry.namespace}/${entry.name}: ${error.message}`));
}

function runningStatus(object, pod) {
  const conditions = ['PodScheduled', 'PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'Ready'];
  return {
    phase: 'Running',
    hostIP: options.address,
    hostIPs: [{ ip: options.address }],
    podIP: pod.address,
    podIPs: [{ ip: pod.address }],
    startTime: pod.startedAt,
    conditions: conditions.map((type) => ({ type, status: 'True', lastTransitionTime: pod.startedAt })),
    containerStatuses: object.spec.containers.map(({ name, image }) => ({
      name,
      image,
      imageID: image,
      containerID: `process://${pod.containers.get(name).child.pid}`,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: pod.startedAt } },
    })),
  };
}

/** Address of a pod that may not be ready yet, below the Service that governs it. */
function addressOfPod(namespace, name, subdomain) {
  const found = [...pods.values()].find((entry) => entry.namespace === namespace && entry.name === name);
  return found?.pod.subdomain === subdomain ? found?.pod.address : undefined;
}

async function registerNode() {
  const capacity = { cpu: '64', memory: '64Gi', pods: '500' };
  await api.post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } }).catch((error) => {
    if (error.status !== 409) throw error;
  });
  await api.patch(`/api/v1/nodes/${NODE}/status`, {
    status: {
      capacity,
      allocatable: capacity,
      addresses: [
        { type: 'InternalIP', address: options.address },
        { type: 'Hostname', address: NODE },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'pods run as processes' }],
    },
  });
}

/** The API server fetches the logs of a container at /containerLogs/<namespace>/<pod>/<container>. */
function serveLogs() {
  createServer({ cert: readFileSync(options.cert), key: readFileSync(options.key) }, (request, response) => {
    const url = new URL(request.url, 'https://node');
    const [, kind, namespace, name, container] = url.pathname.split('/');
    const entry = [...pods.values()].find((pod) => pod.namespace === namespace && pod.name === name);
    if (kind !== 'containerLogs' || entry === undefined) {
      response.writeHead(404).end();
      return;
    }
    const seconds = url.searchParams.get('sinceSeconds');
    const time = url.searchParams.get('sinceTime');
    const since = seconds ? Date.now() - Number(seconds) * 1000 : time ? Date.parse(time) : 0;
    const tail = Number(url.searchParams.get('tailLines') ?? Number.POSITIVE_INFINITY);
    response.writeHead(200, { 'content-type': 'text/plain' }).end(entry.pod.logs(container, { since, tail }));
  }).listen(10250, options.address);
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    ended.abort();
    await Promise.all([...pods.keys()].map(forget));
    process.exit(0);
  });
}
