// The REST API as an operator's script uses it.

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
  /** POST that must create; gives the new id. */
  create(kind: string, body: unknown): Promise<string>;
  /** Captures and activates; gives the snapshot's id. */
  activateAs(name: string): Promise<string>;
}

/** `url` as of `startSluice`; paths are below `/api/v1`. */
export function apiClient(url: string, headers: Record<string, string> = {}): ApiClient {
  async function call<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...init,
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: (text === '' ? {} : JSON.parse(text)) as Body };
  }

  async function expectStatus(answer: Promise<Answer>, status: number): Promise<Answer> {
    const { status: actual, body } = await answer;
    if (actual !== status) throw new Error(`expected ${status}, got ${actual}: ${JSON.stringify(body)}`);
    return answer;
  }

  const client: ApiClient = {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
    delete: (path) => call('DELETE', path),
    async create(kind, body) {
      const { body: created } = await expectStatus(client.post(`/${kind}`, body), 201);
      return String(created.id);
    },
    async activateAs(name) {
      const id = await client.create('snapshots', { name });
      await expectStatus(client.post(`/snapshots/${id}/activate`), 200);
      return id;
    },
  };
  return client;
}
