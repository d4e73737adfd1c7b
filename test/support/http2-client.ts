// Node's own HTTP/2 client with promises, for tests.
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from 'node:http2';

export interface Http2Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly trailers: Readonly<Record<string, string | string[] | undefined>>;
  /** Statuses of what came before. */
  readonly interim: readonly number[];
  readonly code: number;
}

export class Http2Client {
  readonly session: ClientHttp2Session;
  /** Last stream ids of the GOAWAYs that have come. */
  readonly goAways: number[] = [];
  closed = false;

  constructor(origin: string, options: http2.SecureClientSessionOptions = {}) {
    this.session = http2.connect(origin, options);
    this.session.on('error', () => {});
    this.session.on('goaway', (_code, lastId) => this.goAways.push(lastId));
    this.session.on('close', () => {
      this.closed = true;
    });
  }

  open(headers: OutgoingHttpHeaders, endStream = false): ClientHttp2Stream {
    const stream = this.session.request(headers, { endStream });
    stream.on('error', () => {});
    return stream;
  }

  async ask(headers: OutgoingHttpHeaders, body?: string | Buffer): Promise<Http2Answer> {
    const stream = this.open(headers, body === undefined);
    const answer = answerOf(stream);
    if (body !== undefined) stream.end(body);
    return answer;
  }

  close(): void {
    this.session.destroy();
  }
}

/** Resolves when the stream is closed, at any end. */
export function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  const chunks: Buffer[] = [];
  const interim: number[] = [];
  let headers: Record<string, string | string[] | undefined> = {};
  let trailers: Record<string, string | string[] | undefined> = {};
  stream.on('headers', (fields) => interim.push(Number(fields[':status'])));
  stream.on('response', (fields) => {
    headers = { ...fields } as typeof headers;
  });
  stream.on('trailers', (fields) => {
    trailers = { ...fields } as typeof trailers;
  });
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    stream.on('close', () => {
      const status = Number(headers[':status'] ?? 0);
      resolve({
        status,
        headers,
        trailers,
        interim,
        body: Buffer.concat(chunks).toString(),
        code: stream.rstCode ?? 0,
      });
    });
  });
}
