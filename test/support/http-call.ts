import { type IncomingHttpHeaders, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';

export interface CallOptions {
  /** Sent as JSON unless it is text or bytes already. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** API key. */
  readonly key?: string;
  /** Milliseconds after which it rejects without an answer. Endless by default. */
  readonly withinMs?: number;
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined when it is empty. */
  readonly json: unknown;
}

const agent = new PlainAgent({ keepAlive: true, maxSockets: 64 });

/** The error of a request that was sent on a connection kept from an earlier one, as the other side was closing it. */
export const closedWhileIdle = 'ECONNRESET on a kept connection';

/** Sends a request with headers exactly as given: fetch would not let a test set Host, Origin or an empty body. */
export async function call(base: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const { body, headers = {}, key, tls, withinMs } = options;
  const url = new URL(base);
  const bytes = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
  return await new Promise((resolve, reject) => {
    const request = send({
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port,
      method,
      path,
      ...(withinMs !== undefined && { signal: AbortSignal.timeout(withinMs) }),
      ...(url.protocol === 'https:' ? { agent: false, ...tls } : { agent }),
      headers: {
        ...(bytes !== undefined && { 'content-length': Buffer.byteLength(bytes) }),
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...headers,
      },
    });
    request.on('error', (error: Error & { code?: string }) => {
      if (request.reusedSocket && error.code === 'ECONNRESET') error.code = closedWhileIdle;
      if (error.name === 'AbortError') error.message = `${method} ${path} had no answer within ${withinMs} ms`;
      reject(error);
    });
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = response.headers['content-type']?.startsWith('application/json') === true && text !== '';
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        });
      });
    });
    request.end(bytes);
  });
}
