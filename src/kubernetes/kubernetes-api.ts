// Calls of the Kubernetes API: lists in pages, watches, reads and writes. A few hundred lines on undici, which is here
// anyway, in place of a client library: what matters is how a watch is picked up again.

import type { Agent } from 'undici';
import { packages } from '../../program/disk-packages.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { type KubernetesObject, withoutRecords } from './objects.ts';

/** Objects of lists and watches come without the records of their writers. */
export interface Listed {
  readonly objects: readonly KubernetesObject[];
  /** Resource version from which a watch continues. */
  readonly version: string;
}

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: KubernetesObject & { readonly code?: number; readonly message?: string };
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** The API has accepted the watch. */
  readonly onOpen: () => void;
  readonly onEvent: (event: WatchEvent) => void;
}

export interface ApplyOptions {
  /** Owner of the fields that are applied. */
  readonly fieldManager: string;
  /** True: fields of other managers are taken over. Default: a conflict is refused with 409. */
  readonly force?: boolean;
}

/** The API answered, and with something else than what was asked for. */
export class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, message = `status ${status}`) {
    super(message);
    this.status = status;
  }
}

const pageSize = 500;
const callMs = 30_000;
/** Maximum size of one event, in bytes: an EndpointSlice has up to 1,000 endpoints. */
const lineMax = 8 * 1024 * 1024;
/** Characters of a refusal that are kept. */
const reasonMax = 500;

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly signal?: AbortSignal;
}

export class KubernetesApi {
  readonly #access: ClusterAccess;
  readonly #agent: Agent;

  constructor(access: ClusterAccess) {
    this.#access = access;
    const { ca, cert, key, serverName, insecure } = access;
    this.#agent = new (packages.undici().Agent)({
      bodyTimeout: 0,
      headersTimeout: callMs,
      connect: {
        timeout: 10_000,
        ...(ca !== undefined && { ca }),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
        ...(serverName !== undefined && { servername: serverName }),
        rejectUnauthorized: !insecure,
      },
    });
  }

  async list(path: string, signal: AbortSignal): Promise<Listed> {
    const objects: KubernetesObject[] = [];
    for (let next = ''; ; ) {
      const query = `${path.includes('?') ? '&' : '?'}limit=${pageSize}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`;
      const page = await this.#json<{
        metadata: { resourceVersion: string; continue?: string };
        /** Servers in Go write an empty list as null. */
        items: KubernetesObject[] | null;
      }>({ method: 'GET', path: `${path}${query}`, signal });
      // Page by page: the records of a large list would be most of the memory.
      for (const object of page.items ?? []) objects.push(withoutRecords(object));
      next = page.metadata.continue ?? '';
      if (next === '') return { objects, version: page.metadata.resourceVersion };
    }
  }

  /** Passes on each event until the server ends the watch, as it does after `seconds`. Rejects when it breaks. */
  async watch(
    path: string,
    version: string,
    seconds: number,
    { signal, onOpen, onEvent }: WatchOptions,
  ): Promise<void> {
    const query = `${path.includes('?') ? '&' : '?'}watch=1&allowWatchBookmarks=true&timeoutSeconds=${seconds}&resourceVersion=${encodeURIComponent(version)}`;
    // A connection that died without a word ends here: the server would have ended the watch by then.
    const over = AbortSignal.any([signal, AbortSignal.timeout((seconds + 30) * 1_000)]);
    const body = await this.#send({ method: 'GET', path: `${path}${query}`, signal: over });
    onOpen();
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of body) {
      rest += decoder.decode(chunk as Buffer, { stream: true });
      if (rest.length > lineMax) throw new Error('an event of the watch is too large');
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') deliver(JSON.parse(line) as WatchEvent, onEvent);
    }
  }

  get<T extends KubernetesObject>(path: string): Promise<T> {
    return this.#json({ method: 'GET', path });
  }

  create<T extends KubernetesObject>(path: string, object: object): Promise<T> {
    return this.#json({ method: 'POST', path, body: object });
  }

  /** Replaces an object. Its `resourceVersion`, where given, has to be the present one (409). */
  update<T extends KubernetesObject>(path: string, object: object): Promise<T> {
    return this.#json({ method: 'PUT', path, body: object });
  }

  /** Changes parts of an object (RFC 7396): null removes, lists are replaced. */
  merge<T extends KubernetesObject>(path: string, change: object): Promise<T> {
    return this.#json({ method: 'PATCH', path, body: change, type: 'application/merge-patch+json' });
  }

  /** Server-side apply: the fields of the object become those of the manager, those that it had before and lacks go. */
  apply<T extends KubernetesObject>(
    path: string,
    object: object,
    { fieldManager, force = false }: ApplyOptions,
  ): Promise<T> {
    const query = `?fieldManager=${encodeURIComponent(fieldManager)}&force=${force}`;
    return this.#json({ method: 'PATCH', path: `${path}${query}`, body: object, type: 'application/apply-patch+yaml' });
  }

  async delete(path: string): Promise<void> {
    await this.#json({ method: 'DELETE', path });
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #json<T>({ signal, ...call }: Call): Promise<T> {
    const limit = AbortSignal.timeout(callMs);
    const body = await this.#send({ ...call, signal: signal === undefined ? limit : AbortSignal.any([signal, limit]) });
    return JSON.parse(await text(body)) as T;
  }

  async #send({ method, path, body, type = 'application/json', signal }: Call): Promise<AsyncIterable<unknown>> {
    const authorization = await this.#access.authorization();
    const base = new URL(this.#access.url);
    const answer = await this.#agent.request({
      origin: base.origin,
      path: `${base.pathname.replace(/\/$/, '')}${path}`,
      method,
      headers: {
        accept: 'application/json',
        ...(authorization !== undefined && { authorization }),
        ...(body !== undefined && { 'content-type': type }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
    if (answer.statusCode >= 200 && answer.statusCode < 300) return answer.body;
    if (method === 'GET') {
      answer.body.on('error', () => {}).destroy();
      throw new RefusedError(answer.statusCode);
    }
    throw new RefusedError(answer.statusCode, refusalOf(answer.statusCode, await text(answer.body)));
  }
}

/** Returns the message of a `Status` object, or the status alone. */
function refusalOf(status: number, body: string): string {
  try {
    const { message } = JSON.parse(body) as { message?: string };
    return `status ${status}: ${(message ?? '').slice(0, reasonMax)}`;
  } catch {
    return `status ${status}`;
  }
}

function deliver(event: WatchEvent, onEvent: (event: WatchEvent) => void): void {
  if (event.type !== 'ERROR') onEvent({ ...event, object: withoutRecords(event.object) });
  else throw new RefusedError(event.object.code ?? 500, `the watch says ${event.object.message ?? event.object.code}`);
}

async function text(body: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
