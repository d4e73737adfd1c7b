// A Kubernetes API server for two collections per namespace, as far as a reader can tell: lists in pages, watches from a
// version with bookmarks, 410 for history that is compacted, ends of watches, and failures on command.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Item {
  readonly metadata: { readonly name: string; readonly namespace: string; resourceVersion?: string; labels?: object };
}

interface Change {
  readonly version: number;
  readonly path: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Item;
}

interface Watcher {
  readonly path: string;
  readonly response: ServerResponse;
}

export class KubernetesServer {
  /** Path and query of each request, oldest first. */
  readonly requests: string[] = [];
  /** Bearer token that requests need; undefined: none. */
  token: string | undefined;
  /** Connections that came while it was away. */
  missed = 0;
  #server: Server | undefined;
  #port = 0;
  #isAway = false;
  #version = 100;
  #compacted = 0;
  readonly #objects = new Map<string, Map<string, Item>>();
  #history: Change[] = [];
  readonly #watchers = new Set<Watcher>();
  #listVersion = new Map<string, Item[]>();

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get watches(): number {
    return this.#watchers.size;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => this.#answer(request, response));
    this.#server = server;
    server.on('connection', (socket) => {
      if (!this.#isAway) return;
      this.missed++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => {
      server.listen(this.#port, '127.0.0.1', () => resolve());
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
    this.#watchers.clear();
  }

  /** Refuses connections until it is back; its port stays its own. */
  leave(): void {
    this.#isAway = true;
    this.#server?.closeAllConnections();
    this.#watchers.clear();
  }

  comeBack(): void {
    this.#isAway = false;
  }

  service(namespace: string, name: string, spec: object): void {
    this.#put(`/api/v1/namespaces/${namespace}/services`, { metadata: { name, namespace }, spec } as Item);
  }

  slice(namespace: string, service: string, name: string, ports: object[], endpoints: object[]): void {
    const metadata = { name, namespace, labels: { 'kubernetes.io/service-name': service } };
    this.#put(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
      metadata,
      addressType: 'IPv4',
      ports,
      endpoints,
    } as Item);
  }

  removeSlice(namespace: string, name: string): void {
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
    const object = this.#objects.get(path)?.get(name);
    if (object === undefined) return;
    this.#objects.get(path)?.delete(name);
    this.#record(path, 'DELETED', object);
  }

  /** Compacts the history: watches from an earlier version get 410. */
  compact(): void {
    this.#history = [];
    this.#compacted = this.#version;
  }

  /** Restores it from a backup: versions count anew from an earlier one, and the history since is gone. */
  restore(): void {
    this.#history = [];
    this.#version = 50;
    this.#compacted = 50;
    for (const objects of this.#objects.values()) {
      for (const object of objects.values()) object.metadata.resourceVersion = '50';
    }
  }

  /** Ends every watch, in the middle of an event where asked. */
  drop({ torn = false } = {}): void {
    for (const { response } of this.#watchers) {
      if (torn) response.write('{"type":"MODIF', () => response.destroy());
      else response.end();
    }
    this.#watchers.clear();
  }

  /** Sends a bookmark to every watcher, which keeps its version fresh. */
  bookmark(): void {
    for (const watcher of this.#watchers) {
      const metadata = { name: '', resourceVersion: String(this.#version) };
      watcher.response.write(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata } })}\n`);
    }
  }

  #put(path: string, object: Item): void {
    const objects = this.#objects.get(path) ?? new Map<string, Item>();
    this.#objects.set(path, objects);
    const type = objects.has(object.metadata.name) ? 'MODIFIED' : 'ADDED';
    objects.set(object.metadata.name, object);
    this.#record(path, type, object);
  }

  #record(path: string, type: Change['type'], object: Item): void {
    const version = ++this.#version;
    object.metadata.resourceVersion = String(version);
    const change = { version, path, type, object: structuredClone(object) };
    this.#history.push(change);
    for (const watcher of this.#watchers) if (watcher.path === path) tell(watcher, change);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    this.requests.push(request.url ?? '');
    if (this.token !== undefined && request.headers.authorization !== `Bearer ${this.token}`) {
      response.writeHead(401).end('{}');
    } else if (!/\/namespaces\/[^/]+\/(services|endpointslices)$/.test(pathname)) response.writeHead(404).end('{}');
    else if (searchParams.get('watch') === '1') this.#watch(pathname, searchParams, response);
    else this.#list(pathname, searchParams, response);
  }

  #list(path: string, query: URLSearchParams, response: ServerResponse): void {
    const [snapshot = `${path} ${this.#version}`, from = '0'] = query.get('continue')?.split('|') ?? [];
    const items = this.#listVersion.get(snapshot) ?? [...(this.#objects.get(path)?.values() ?? [])];
    this.#listVersion.set(snapshot, items);
    const end = Number(from) + Math.min(Number(query.get('limit') ?? '500'), pageMax);
    const metadata = {
      resourceVersion: snapshot.split(' ')[1],
      ...(end < items.length && { continue: `${snapshot}|${end}` }),
    };
    response.setHeader('content-type', 'application/json');
    const page = items.slice(Number(from), end);
    // A server in Go writes an empty list as null.
    response.end(JSON.stringify({ kind: 'List', metadata, items: page.length > 0 ? page : null }));
  }

  #watch(path: string, query: URLSearchParams, response: ServerResponse): void {
    const from = Number(query.get('resourceVersion'));
    if (from > this.#version) {
      response.writeHead(504).end(JSON.stringify({ kind: 'Status', code: 504, message: 'Too large resource version' }));
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.flushHeaders();
    if (from < this.#compacted) {
      const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
      return;
    }
    const watcher = { path, response };
    this.#watchers.add(watcher);
    response.on('close', () => this.#watchers.delete(watcher));
    for (const change of this.#history) if (change.path === path && change.version > from) tell(watcher, change);
  }
}

/** Small, so that lists have pages. */
const pageMax = 3;

function tell({ response }: Watcher, { type, object }: Change): void {
  const line = `${JSON.stringify({ type, object })}\n`;
  // As it may come from a network.
  response.write(line.slice(0, 20));
  response.write(line.slice(20));
}
