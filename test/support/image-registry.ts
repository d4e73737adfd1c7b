// Registry of images over loopback: pushes and pulls of the OCI distribution specification 1.1, each digest checked.
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Stored {
  readonly bytes: Buffer;
  readonly type: string;
}

export class ImageRegistry {
  readonly #server: Server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  /** By repository and digest, manifests by repository and tag as well. */
  readonly #stored = new Map<string, Stored>();
  readonly #uploads = new Map<string, Buffer[]>();

  static async start(): Promise<ImageRegistry> {
    const registry = new ImageRegistry();
    await new Promise<void>((resolve) => registry.#server.listen(0, '127.0.0.1', resolve));
    return registry;
  }

  /** `127.0.0.1:<port>` */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://registry');
    const bytes = await bodyOf(request);
    if (pathname === '/v2/') return void response.writeHead(200).end();
    const [, repository = '', kind = '', name = ''] = /^\/v2\/(.+)\/(blobs|manifests)\/(.+)$/.exec(pathname) ?? [];
    const key = `${repository}/${name}`;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead) return this.#read(key, request.method === 'GET', response);
    if (kind === 'blobs')
      return this.#upload({ request, repository, name, digest: searchParams.get('digest'), bytes }, response);
    if (kind !== 'manifests' || request.method !== 'PUT') return void response.writeHead(405).end();
    const stored = { bytes, type: request.headers['content-type'] ?? '' };
    this.#stored.set(key, stored).set(`${repository}/${digestOf(bytes)}`, stored);
    response.writeHead(201, { location: pathname, 'docker-content-digest': digestOf(bytes) }).end();
  }

  #read(key: string, hasBody: boolean, response: ServerResponse): void {
    const found = this.#stored.get(key);
    if (found === undefined) return void response.writeHead(404).end();
    const { bytes, type } = found;
    const headers = { 'content-type': type, 'content-length': bytes.length, 'docker-content-digest': digestOf(bytes) };
    response.writeHead(200, headers).end(hasBody ? bytes : undefined);
  }

  /** POST begins an upload, PATCH adds to it, PUT ends it with the digest of the whole. */
  #upload(
    part: { request: IncomingMessage; repository: string; name: string; digest: string | null; bytes: Buffer },
    response: ServerResponse,
  ): void {
    const { request, repository, name, digest, bytes } = part;
    const id = request.method === 'POST' ? randomUUID() : name.replace(/^uploads\//, '');
    const parts = request.method === 'POST' ? [] : this.#uploads.get(id);
    if (parts === undefined) return void response.writeHead(404).end();
    parts.push(bytes);
    if (request.method !== 'PUT') {
      this.#uploads.set(id, parts);
      const length = parts.reduce((sum, each) => sum + each.length, 0);
      const location = `/v2/${repository}/blobs/uploads/${id}`;
      return void response.writeHead(202, { location, range: `0-${Math.max(0, length - 1)}` }).end();
    }
    const whole = Buffer.concat(parts);
    this.#uploads.delete(id);
    if (digestOf(whole) !== digest) return void response.writeHead(400).end('the digest is that of other bytes');
    this.#stored.set(`${repository}/${digest}`, { bytes: whole, type: 'application/octet-stream' });
    response.writeHead(201, { location: `/v2/${repository}/blobs/${digest}` }).end();
  }
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
