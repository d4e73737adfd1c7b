// Lists and watches collections of the Kubernetes API. A few hundred lines on undici, which is here anyway, in place of
// a client library: of its hundreds of kinds two are read, and what matters is how a watch is picked up again.

import type { Agent } from 'undici';
import { undici } from '../../on-demand.ts';
import type { ClusterAccess } from './cluster-access.ts';

export interface KubernetesObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

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

/** The API answered, and with something else than what was asked for. */
export class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, message = `status ${status}`) {
    super(message);
    this.status = status;
  }
}

const pageSize = 500;
const listMs = 30_000;
/** Maximum size of one event, in bytes: an EndpointSlice has up to 1,000 endpoints. */
const lineMax = 8 * 1024 * 1024;

export class KubernetesApi {
  readonly #access: ClusterAccess;
  readonly #agent: Agent;

  constructor(access: ClusterAccess) {
    this.#access = access;
    const { ca, cert, key, serverName, insecure } = access;
    this.#agent = new (undici().Agent)({
      bodyTimeout: 0,
      headersTimeout: listMs,
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
      const query = `?limit=${pageSize}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`;
      const body = await this.#get(`${path}${query}`, AbortSignal.any([signal, AbortSignal.timeout(listMs)]));
      const page = JSON.parse(await text(body)) as {
        metadata: { resourceVersion: string; continue?: string };
        /** Servers in Go write an empty list as null. */
        items: KubernetesObject[] | null;
      };
      objects.push(...(page.items ?? []));
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
    const query = `?watch=1&allowWatchBookmarks=true&timeoutSeconds=${seconds}&resourceVersion=${encodeURIComponent(version)}`;
    // A connection that died without a word ends here: the server would have ended the watch by then.
    const over = AbortSignal.any([signal, AbortSignal.timeout((seconds + 30) * 1_000)]);
    const body = await this.#get(`${path}${query}`, over);
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

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #get(path: string, signal: AbortSignal): Promise<AsyncIterable<unknown>> {
    const authorization = await this.#access.authorization();
    const base = new URL(this.#access.url);
    const { statusCode, body } = await this.#agent.request({
      origin: base.origin,
      path: `${base.pathname.replace(/\/$/, '')}${path}`,
      method: 'GET',
      headers: { accept: 'application/json', ...(authorization !== undefined && { authorization }) },
      signal,
    });
    if (statusCode === 200) return body;
    body.on('error', () => {}).destroy();
    throw new RefusedError(statusCode);
  }
}

function deliver(event: WatchEvent, onEvent: (event: WatchEvent) => void): void {
  if (event.type !== 'ERROR') onEvent(event);
  else throw new RefusedError(event.object.code ?? 500, `the watch says ${event.object.message ?? event.object.code}`);
}

async function text(body: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
