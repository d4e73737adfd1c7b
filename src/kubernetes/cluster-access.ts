// Access to the Kubernetes API: by the service account of the pod, else by the kubeconfig of the user, else none
// (contract.md §7.12). Commands that a kubeconfig would run for a token are not run.
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseDocument } from 'yaml';

export interface ClusterAccess {
  /** Without a slash at its end. */
  readonly url: string;
  /** Value of `Authorization`, asked for each request: tokens are renewed on disk. Undefined: none is sent. */
  authorization(): Promise<string | undefined>;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly serverName?: string | undefined;
  /** True when the kubeconfig switches off the check of the server's certificate. */
  readonly insecure: boolean;
}

/** Parts of the machine that the search reads. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** Undefined when there is no such file. */
  read(path: string): Promise<string | undefined>;
}

export const thisMachine: Machine = {
  env: process.env,
  home: homedir(),
  read: (path) =>
    readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    }),
};

const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Finds a cluster; undefined when none is configured. Rejects when its configuration cannot be used. */
export async function findCluster(machine: Machine): Promise<ClusterAccess | undefined> {
  return (await inCluster(machine)) ?? (await byKubeconfig(machine));
}

async function inCluster({ env, read }: Machine): Promise<ClusterAccess | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (!host || (await read(`${accountFolder}/token`)) === undefined) return undefined;
  return {
    url: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    authorization: async () => bearer(await read(`${accountFolder}/token`)),
    ca: await read(`${accountFolder}/ca.crt`),
    insecure: false,
  };
}

const bearer = (token: string | undefined): string | undefined =>
  token === undefined || token.trim() === '' ? undefined : `Bearer ${token.trim()}`;

async function byKubeconfig(machine: Machine): Promise<ClusterAccess | undefined> {
  const listed = machine.env.KUBECONFIG?.split(':').find((path) => path !== '');
  const path = listed ?? join(machine.home, '.kube', 'config');
  const text = await machine.read(path);
  if (text === undefined) return undefined;
  const config = asMap(parsed(path, text));
  const context = asMap(entry(config.contexts, asText(config['current-context']), path).context);
  const cluster = asMap(entry(config.clusters, asText(context.cluster), path).cluster);
  const user = context.user === undefined ? {} : asMap(entry(config.users, asText(context.user), path).user);
  if (user.exec !== undefined) throw new Error(`${path}: users with exec are not supported`);
  const server = asText(cluster.server);
  if (server === undefined) throw new Error(`${path}: the cluster has no server`);
  const part = (map: Map, name: string): Promise<string | undefined> => partOf(machine, path, map, name);
  return {
    url: server.replace(/\/+$/, ''),
    authorization: () => authorizationOf(machine, path, user),
    ca: await part(cluster, 'certificate-authority'),
    cert: await part(user, 'client-certificate'),
    key: await part(user, 'client-key'),
    serverName: asText(cluster['tls-server-name']),
    insecure: cluster['insecure-skip-tls-verify'] === true,
  };
}

/** Parses YAML. An error does not quote the lines, which may hold a token. */
function parsed(path: string, text: string): unknown {
  const document = parseDocument(text, { prettyErrors: false });
  const [problem] = document.errors;
  if (problem !== undefined) throw new Error(`${path}: ${problem.message}`);
  return document.toJS();
}

type Map = Readonly<Record<string, unknown>>;

const asMap = (value: unknown): Map => (typeof value === 'object' && value !== null ? (value as Map) : {});
const asText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

function entry(list: unknown, name: string | undefined, path: string): Map {
  const found = Array.isArray(list) ? list.map(asMap).find((each) => each.name === name) : undefined;
  if (found === undefined) throw new Error(`${path}: nothing is called ${JSON.stringify(name ?? '')}`);
  return found;
}

/** Text that stands in the file itself, as base64, or in a file that it names. */
async function partOf(machine: Machine, path: string, map: Map, name: string): Promise<string | undefined> {
  const data = asText(map[`${name}-data`]);
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  const file = asText(map[name]);
  return file === undefined ? undefined : machine.read(resolve(dirname(path), file));
}

async function authorizationOf(machine: Machine, path: string, user: Map): Promise<string | undefined> {
  const file = asText(user.tokenFile);
  const token = file === undefined ? asText(user.token) : await machine.read(resolve(dirname(path), file));
  if (token !== undefined) return bearer(token);
  const [name, password] = [asText(user.username), asText(user.password)];
  if (name === undefined || password === undefined) return undefined;
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}
