// Surroundings of the guarded node: an upstream that judges each request that reaches it, authorizers over HTTP and gRPC
// that vouch for exactly what they were shown, and a processor that refuses bodies.
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { type Fields, GrpcService } from '../grpc-service.ts';
import { listening } from '../proxy-bed.ts';
import { authzOf, type Oracle, violationOf } from './protections.ts';
import { Malformed, type SeenRequest, takeRequests, valuesOf } from './seen-request.ts';

export interface ServicePorts {
  readonly upstream: number;
  readonly authorizer: number;
  readonly grpcAuthorizer: number;
  readonly processor: number;
}

const findingsMax = 20;

export class FuzzServices {
  /** Requests that should not have reached the upstream, with the reason. */
  readonly findings: string[] = [];
  /** Requests that reached the upstream, by the first segment of their path. */
  readonly reached = new Map<string, number>();
  readonly #oracle: Oracle;
  readonly #sockets = new Set<Socket>();
  readonly #servers: (Server | ReturnType<typeof createServer>)[] = [];
  readonly #grpc = new GrpcService();

  constructor(oracle: Oracle) {
    this.#oracle = oracle;
  }

  async start(): Promise<ServicePorts> {
    const upstream = createServer((socket) => this.#serve(socket));
    const authorizer = createHttpServer({ maxHeaderSize: 1 << 20 }, (request, response) => {
      const path = String(request.headers['x-path'] ?? '');
      const isAllowed = request.headers['x-pass'] === 'yes' && !path.includes('secret');
      request.resume();
      response.writeHead(isAllowed ? 200 : 403, { 'x-authz': authzOf(request.method ?? '', path) }).end();
    });
    const processor = createHttpServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => response.end(JSON.stringify(processed(Buffer.concat(chunks).toString()))));
    });
    this.#servers.push(upstream, authorizer, processor);
    this.#grpc.unary('extauthz.proto', 'extauthz.v1.Authorizer', 'Check', (request) => checked(request));
    const [first = 0, second = 0, third = 0] = await Promise.all(
      this.#servers.map((server) => listening(server as Server)),
    );
    return { upstream: first, authorizer: second, processor: third, grpcAuthorizer: await this.#grpc.start() };
  }

  stop(): void {
    this.#grpc.stop();
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) {
      if ('closeAllConnections' in server) server.closeAllConnections();
      server.close();
    }
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    let held = '';
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      held += chunk.toString('latin1');
      try {
        const { requests, rest } = takeRequests(held);
        held = rest;
        for (const request of requests) {
          this.#judge(request);
          socket.write(answerTo(request), 'latin1');
        }
      } catch (error) {
        if (!(error instanceof Malformed)) throw error;
        this.#find(`malformed: ${error.message}`, held);
        socket.destroy();
      }
    });
  }

  #judge(request: SeenRequest): void {
    const area = request.target.split(/[/?]/, 2)[1] ?? '';
    this.reached.set(area, (this.reached.get(area) ?? 0) + 1);
    const violation = violationOf(request, this.#oracle);
    if (violation !== undefined) this.#find(violation, JSON.stringify(request));
  }

  #find(what: string, shown: string): void {
    if (this.findings.length < findingsMax) this.findings.push(`the upstream saw ${what}: ${shown.slice(0, 2_000)}`);
  }
}

/** Echoes the request's id. A browser's origin gets a permission that the node has to take back. */
function answerTo(request: SeenRequest): string {
  const id = valuesOf(request, 'x-id').join(',').slice(0, 100);
  const body = request.method === 'HEAD' ? '' : id;
  const origin = valuesOf(request, 'origin').length > 0 ? 'Access-Control-Allow-Origin: *\r\n' : '';
  const method = `X-Asked: ${request.method}\r\n`;
  return `HTTP/1.1 200 OK\r\n${origin}${method}Content-Length: ${id.length}\r\n\r\n${body}`;
}

function checked({ method, path, headers }: Fields): Fields {
  const asked = String(path ?? '').split('?', 1)[0] ?? '';
  const passes = ((headers ?? []) as { key: string; value: string }[]).filter(({ key }) => key === 'x-pass');
  const isAllowed = passes.map(({ value }) => value).join() === 'yes' && !asked.includes('secret');
  if (!isAllowed) return { allowed: false, denied_status: 403 };
  return { allowed: true, headers: [{ key: 'x-authz', value: authzOf(String(method), asked) }] };
}

function processed(text: string): object {
  const { phase, body } = JSON.parse(text) as { phase: string; body?: string };
  const isForbidden = phase === 'requestBody' && Buffer.from(body ?? '', 'base64').includes('forbidden');
  return isForbidden ? { action: 'reject', rejectStatus: 403 } : { action: phase };
}
