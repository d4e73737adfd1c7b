// A pod as processes: each container's image names a program on this machine, run inside the pod's network namespace.
import { spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { serves } from './network.mjs';

const READY_POLL_MS = 50;
const LOG_LINES_KEPT = 20_000;

export class Pod {
  #api;
  #folder;
  #images;
  #network;
  #spec;
  #stopped = false;
  containers = new Map();
  startedAt = new Date().toISOString().replace(/\.\d+/, '');

  constructor(spec, { api, folder, images, network }) {
    this.#spec = spec;
    this.#api = api;
    this.#folder = join(folder, spec.metadata.uid);
    this.#images = images;
    this.#network = network;
  }

  get address() {
    return this.attachment?.address;
  }

  async start() {
    const { metadata, spec } = this.#spec;
    this.attachment = await this.#network.attach(`pod-${metadata.uid.slice(0, 13)}`);
    const volumes = await this.#writeVolumes();
    for (const container of spec.containers) this.#startContainer(container, volumes);
    await Promise.all([...this.containers.values()].map(({ child }) => this.#untilServing(child)));
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

  #startContainer(container, volumes) {
    const program = this.#images(container.image);
    if (program === undefined) throw new Error(`no program stands for the image ${container.image}`);
    const environment = { PATH: process.env.PATH, HOME: '/', HOSTNAME: this.#spec.metadata.name };
    for (const variable of container.env ?? [])
      environment[variable.name] = this.#valueOf(variable, container, volumes);
    const command = [program, ...(container.command?.slice(1) ?? []), ...(container.args ?? [])];
    const child = spawn('ip', ['netns', 'exec', this.attachment.name, ...command], {
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

  #valueOf(variable, container, volumes) {
    const path = variable.valueFrom?.fieldRef?.fieldPath;
    const value = path === undefined ? (variable.value ?? '') : fieldOf(this.#spec, path, this.address);
    // Without a mount namespace, a variable that names a file in a volume names the volume's real folder.
    const mount = (container.volumeMounts ?? []).find(
      ({ mountPath }) => value === mountPath || value.startsWith(`${mountPath}/`),
    );
    return mount === undefined ? value : join(volumes.get(mount.name), value.slice(mount.mountPath.length));
  }

  async #writeVolumes() {
    await mkdir(this.#folder, { recursive: true });
    const volumes = new Map();
    for (const volume of this.#spec.spec.volumes ?? []) {
      const folder = join(this.#folder, 'volumes', volume.name);
      await mkdir(folder, { recursive: true });
      volumes.set(volume.name, folder);
      for (const [path, content] of await this.#filesOf(volume)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), content);
      }
    }
    return volumes;
  }

  async #filesOf(volume) {
    const namespace = this.#spec.metadata.namespace;
    let source;
    let files;
    if (volume.secret) {
      source = volume.secret;
      const { data = {} } = await this.#get(`/api/v1/namespaces/${namespace}/secrets/${source.secretName}`);
      files = new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]));
    } else if (volume.configMap) {
      source = volume.configMap;
      const { data = {} } = await this.#get(`/api/v1/namespaces/${namespace}/configmaps/${source.name}`);
      files = new Map(Object.entries(data));
    } else {
      return new Map();
    }
    if (!source.items) return files;
    return new Map(source.items.map(({ key, path }) => [path, files.get(key)]));
  }

  /** A real kubelet waits for a volume's object to appear; so does this, for a minute. */
  async #get(path) {
    for (let tries = 0; ; tries++) {
      try {
        return await this.#api.get(path);
      } catch (error) {
        if (error.status !== 404 || tries === 240 || this.#stopped) throw error;
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    }
  }

  async #untilServing(child) {
    while (!this.#stopped && child.exitCode === null && !(await serves(child.pid))) {
      await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
    }
    if (child.exitCode !== null) throw new Error(`${this.#spec.metadata.name} ended before it served`);
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
