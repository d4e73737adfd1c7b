// A pod as processes: each container's image names a program on this machine, run inside the pod's network namespace.
import { spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { answers, serves } from './network.mjs';
import { Volumes } from './volumes.mjs';

const READY_POLL_MS = 50;
const LOG_LINES_KEPT = 20_000;
/** Folders that are the cluster's own (cluster.sh): volumes below are mounted where the container expects them. */
const OWN = /^\/(etc|run|var\/run|var\/lib|tmp)(\/|$)/;

export class Pod {
  #access;
  #folder;
  #images;
  #network;
  #spec;
  #stopped = false;
  #volumes;
  containers = new Map();
  startedAt = new Date().toISOString().replace(/\.\d+/, '');

  /** access: host, port and DNS server of the cluster, as containers find them. */
  constructor(spec, { api, folder, images, network, access }) {
    this.#spec = spec;
    this.#access = access;
    this.#folder = join(folder, spec.metadata.uid);
    this.#images = images;
    this.#network = network;
    this.#volumes = new Volumes(spec, { api, folder: this.#folder, isStopped: () => this.#stopped });
  }

  get address() {
    return this.attachment?.address;
  }

  get subdomain() {
    return this.#spec.spec.subdomain;
  }

  async start() {
    const { metadata, spec } = this.#spec;
    this.attachment = await this.#network.attach(`pod-${metadata.uid.slice(0, 13)}`);
    await this.#writeResolver();
    const volumes = await this.#volumes.write();
    for (const container of spec.containers) await this.#startContainer(container, volumes);
    await Promise.all(spec.containers.map((container) => this.#untilReady(container)));
  }

  async stop() {
    this.#stopped = true;
    for (const { child } of this.containers.values()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    }
    if (this.attachment) await this.#network.detach(this.attachment);
    await rm(this.#folder, { recursive: true, force: true });
  }

  logs(container, { since = 0, tail = Number.POSITIVE_INFINITY } = {}) {
    const lines = this.containers.get(container)?.lines.filter((line) => line.at >= since) ?? [];
    return lines
      .slice(-Math.min(tail, lines.length))
      .map((line) => `${line.text}\n`)
      .join('');
  }

  /** `ip netns exec` mounts the files of this folder over those of /etc. */
  async #writeResolver() {
    const folder = join('/etc/netns', this.attachment.name);
    const domains = `${this.#spec.metadata.namespace}.svc.cluster.local svc.cluster.local cluster.local`;
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, 'resolv.conf'),
      `nameserver ${this.#access.dns}\nsearch ${domains}\noptions ndots:5\n`,
    );
  }

  async #startContainer(container, volumes) {
    const [command = '', ...rest] = container.command ?? [];
    const program = this.#images(basename(command)) ?? this.#images(container.image);
    if (program === undefined) throw new Error(`no program stands for the image ${container.image}`);
    const environment = {
      PATH: process.env.PATH,
      HOME: '/',
      HOSTNAME: this.#spec.metadata.name,
      KUBERNETES_SERVICE_HOST: this.#access.host,
      KUBERNETES_SERVICE_PORT: this.#access.port,
    };
    for (const variable of container.env ?? [])
      environment[variable.name] = await this.#valueOf(variable, container, volumes);
    const mounts = (container.volumeMounts ?? []).filter(({ mountPath }) => OWN.test(mountPath));
    // The last one may hide the folders of the others.
    const inOrder = mounts.sort(({ mountPath }) => (mountPath === '/tmp' ? 1 : -1));
    const binds = inOrder.map(
      ({ name, mountPath }) => `mkdir -p '${mountPath}' && mount --bind '${volumes.get(name)}' '${mountPath}'`,
    );
    const script = [...binds, 'exec "$@"'].join(' && ');
    const started = ['sh', '-c', script, 'sh', program, ...rest, ...(container.args ?? [])];
    const child = spawn('ip', ['netns', 'exec', this.attachment.name, ...started], {
      env: environment,
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines = [];
    for (const stream of [child.stdout, child.stderr]) collectLines(stream, lines);
    child.on('exit', (code, signal) => {
      if (!this.#stopped) console.error(`${this.#spec.metadata.name}/${container.name} ended: ${signal ?? code}`);
    });
    this.containers.set(container.name, { child, lines });
  }

  async #valueOf({ value, valueFrom }, container, volumes) {
    if (valueFrom?.secretKeyRef) return this.#volumes.secretValue(valueFrom.secretKeyRef);
    const path = valueFrom?.fieldRef?.fieldPath;
    const text = path === undefined ? (value ?? '') : fieldOf(this.#spec, path, this.address);
    // Where nothing is mounted, a variable that names a file in a volume names the volume's real folder.
    const mount = (container.volumeMounts ?? []).find(
      ({ mountPath }) => !OWN.test(mountPath) && (text === mountPath || text.startsWith(`${mountPath}/`)),
    );
    return mount === undefined ? text : join(volumes.get(mount.name), text.slice(mount.mountPath.length));
  }

  /** Waits for the readiness probe of a container; without one until it serves. */
  async #untilReady({ name, ports = [], readinessProbe }) {
    const { child, lines } = this.containers.get(name);
    const { path, port } = readinessProbe?.httpGet ?? {};
    const number = ports.find((each) => each.name === port)?.containerPort ?? port;
    const isReady = () => (path === undefined ? serves(child.pid) : answers(`http://${this.address}:${number}${path}`));
    while (!this.#stopped && child.exitCode === null && !(await isReady()))
      await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
    if (child.exitCode !== null)
      throw new Error(`${this.#spec.metadata.name} ended before it served: ${lines.at(-1)?.text ?? 'it said nothing'}`);
  }
}

function fieldOf(pod, path, address) {
  switch (path) {
    case 'metadata.name':
      return pod.metadata.name;
    case 'metadata.namespace':
      return pod.metadata.namespace;
    case 'metadata.uid':
      return pod.metadata.uid;
    case 'spec.nodeName':
      return pod.spec.nodeName ?? '';
    case 'status.podIP':
      return address;
    default:
      throw new Error(`the field ${path} is not known here`);
  }
}

function collectLines(stream, lines) {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop();
    const at = Date.now();
    for (const text of parts) lines.push({ at, text });
    if (lines.length > LOG_LINES_KEPT) lines.splice(0, lines.length - LOG_LINES_KEPT);
  });
}
