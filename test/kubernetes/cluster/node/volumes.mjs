// Volumes of a pod as folders of this machine: Secrets, ConfigMaps, tokens of the service account, empty ones and claims.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const TRIES = 240;
const RETRY_MS = 250;

export class Volumes {
  #api;
  #namespace;
  #folder;
  #spec;
  #isStopped;

  /** folder: where they are; isStopped: returns whether the pod is not wanted any more. */
  constructor({ metadata, spec }, { api, folder, isStopped }) {
    this.#api = api;
    this.#namespace = metadata.namespace;
    this.#spec = spec;
    this.#folder = folder;
    this.#isStopped = isStopped;
  }

  /** Writes all of them and returns their folders by name. */
  async write() {
    await mkdir(this.#folder, { recursive: true });
    const folders = new Map();
    for (const volume of this.#spec.volumes ?? []) {
      const folder = join(this.#folder, 'volumes', volume.name);
      await mkdir(folder, { recursive: true });
      folders.set(volume.name, folder);
      for (const [path, content] of await this.#filesOf(volume)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), content);
      }
    }
    return folders;
  }

  /** Returns a value of a Secret. */
  async secretValue({ name, key }) {
    return (await this.#secret(name)).get(key)?.toString('utf8') ?? '';
  }

  async #filesOf({ secret, configMap, projected }) {
    if (secret) return picked(await this.#secret(secret.secretName), secret.items);
    if (configMap) return picked(await this.#configMap(configMap.name), configMap.items);
    // Every pod has a token; the API is asked for those of pods that have rights.
    if (projected === undefined || (this.#spec.serviceAccountName ?? 'default') === 'default') return new Map();
    const parts = await Promise.all(projected.sources.map((source) => this.#projected(source)));
    return new Map(parts.flatMap((part) => [...part]));
  }

  async #projected({ serviceAccountToken, configMap, downwardAPI }) {
    if (configMap) return picked(await this.#configMap(configMap.name), configMap.items);
    if (downwardAPI) return new Map(downwardAPI.items.map(({ path }) => [path, this.#namespace]));
    if (serviceAccountToken === undefined) return new Map();
    const path = `/api/v1/namespaces/${this.#namespace}/serviceaccounts/${this.#spec.serviceAccountName}/token`;
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { status } = await this.#api.post(path, request);
    return new Map([[serviceAccountToken.path, status.token]]);
  }

  async #secret(name) {
    const { data = {} } = await this.#get(`/api/v1/namespaces/${this.#namespace}/secrets/${name}`);
    return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]));
  }

  async #configMap(name) {
    const { data = {} } = await this.#get(`/api/v1/namespaces/${this.#namespace}/configmaps/${name}`);
    return new Map(Object.entries(data));
  }

  /** A real kubelet waits for a volume's object to appear; so does this, for a minute. */
  async #get(path) {
    for (let tries = 0; ; tries++) {
      try {
        return await this.#api.get(path);
      } catch (error) {
        if (error.status !== 404 || tries === TRIES || this.#isStopped()) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}

const picked = (files, items) => (items ? new Map(items.map(({ key, path }) => [path, files.get(key)])) : files);
