// The REST API as an operator's script uses it.
import { randomUUID } from 'node:crypto';

interface Answer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface ApiClient {
  get<Body = Record<string, unknown>>(path: string): Promise<Answer<Body>>;
  post<Body = Record<string, unknown>>(path: string, body?: unknown): Promise<Answer<Body>>;
  put<Body = Record<string, unknown>>(path: string, body: unknown): Promise<Answer<Body>>;
  delete(path: string): Promise<Answer>;
  /** POST that must create; gives the new id. Asks again while a cluster has no leader that can tell, as `careful` says. */
  create(kind: string, body: unknown): Promise<string>;
  /** Captures and activates, as carefully; gives the snapshot's id. */
  activateAs(name: string): Promise<string>;
}

/** A busy machine may be without a leader for several elections in a row. */
const leaderlessMsMax = 120_000;

/** `url` as of `startSluice`; paths are below `/api/v1`. */
export function apiClient(url: string, headers: Record<string, string> = {}): ApiClient {
  async function call<Body>(method: string, path: string, body?: unknown, key?: string): Promise<Answer<Body>> {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
      ...init,
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: (text === '' ? {} : JSON.parse(text)) as Body };
  }

  /** Sends a POST that takes effect once: 503 (no leader) and 504 (outcome unknown) are repeated with the same key. */
  async function careful(path: string, body: unknown, expected: number): Promise<Answer> {
    const key = randomUUID();
    const end = performance.now() + leaderlessMsMax;
    for (;;) {
      const answer = await call<Record<string, unknown>>('POST', path, body, key);
      if (answer.status === expected) return answer;
      const isTransient = answer.status === 503 || answer.status === 504;
      if (!isTransient || performance.now() > end) {
        throw new Error(`expected ${expected}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  const client: ApiClient = {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
    delete: (path) => call('DELETE', path),
    async create(kind, body) {
      const { body: created } = await careful(`/${kind}`, body, 201);
      return String(created.id);
    },
    async activateAs(name) {
      const id = await client.create('snapshots', { name });
      await careful(`/snapshots/${id}/activate`, undefined, 200);
      return id;
    },
  };
  return client;
}
