// One open port of the proxy. Its settings can be swapped while connections stay; when it ends it stops accepting
// first, so that what was accepted already is still served (stack.md §6).
import { createServer, type Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Clock } from '../../clock.ts';
import type { Listener } from '../../model/listener.ts';
import { trustedProxies } from '../client-address.ts';
import { durationMs } from '../duration.ts';
import { proxyError, renderProxyError, statusOf } from '../proxy-error.ts';
import { type Installed, type ServeSettings, serve } from '../serve.ts';

export interface OpenListener {
  /** Swaps everything but the address. */
  configure(listener: Listener): void;
  /** Stops accepting, ends idle connections, gives the others `withinMs`, then cuts them. */
  close(withinMs: number): Promise<void>;
}

export interface ListenerPlace {
  readonly address: string;
  readonly port: number;
}

/** Rejects with the system's error when the port cannot be bound. */
export async function openListener(
  place: ListenerPlace,
  listener: Listener,
  installed: () => Installed,
  clock: Clock,
): Promise<OpenListener> {
  let settings = settingsOf(listener);
  const server = createServer({ maxHeaderSize: 1 << 20, connectionsCheckingInterval: 1_000 });
  server.maxHeadersCount = 0;
  applyTimeouts(server, listener);
  const serving = { installed, settings: () => settings, clock };
  let closing = false;
  server.on('request', (request, response) => {
    if (closing) response.shouldKeepAlive = false;
    serve(serving, request, response);
  });
  server.on('connect', (request, socket) => {
    if (!request.socket.destroyed) socket.end(refusal('method_not_allowed', settings, clock));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuse(error, socket, settings, clock));
  await bind(server, place);
  return {
    configure(next) {
      settings = settingsOf(next);
      applyTimeouts(server, next);
    },
    async close(withinMs) {
      closing = true;
      await drain(server, withinMs, clock);
    },
  };
}

function settingsOf(listener: Listener): ServeSettings {
  return {
    limits: {
      headerBytesMax: (listener.maxRequestHeadersKB ?? 0) * 1024,
      headerLinesMax: listener.maxRequestHeaders ?? 128,
      pathNormalization: listener.pathNormalization ?? 'enforce',
    },
    trusted: trustedProxies(listener.trustedProxies ?? []),
    serverName: listener.serverName || undefined,
    detail: listener.proxyErrors?.detail ?? 'standard',
    responseMs: durationMs(listener.timeouts?.clientResponse, 60_000),
  };
}

function applyTimeouts(server: Server, { timeouts }: Listener): void {
  server.headersTimeout = durationMs(timeouts?.clientHeader, 10_000);
  server.requestTimeout = durationMs(timeouts?.clientRequest, 60_000);
  server.keepAliveTimeout = durationMs(timeouts?.idleBetweenRequests, 120_000);
}

function bind(server: Server, { address, port }: ListenerPlace): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: address, backlog: 1024 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function drain(server: Server, withinMs: number, clock: Clock): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
  const cancelCut = clock.after(withinMs, () => server.closeAllConnections());
  const sweep = setInterval(() => server.closeIdleConnections(), 100).unref();
  await closed;
  clearInterval(sweep);
  cancelCut();
}

/** What the parser refused. A head that never came is closed without a word (contract.md §2.2). */
function refuse(error: NodeJS.ErrnoException, socket: Socket, settings: ServeSettings, clock: Clock): void {
  const silent = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' || error.code === 'ECONNRESET' || !socket.writable;
  if (silent || socket.bytesWritten > 0) socket.destroy();
  else if (error.code === 'HPE_HEADER_OVERFLOW') socket.end(refusal('request_headers_too_large', settings, clock));
  else socket.end(refusal('bad_request', settings, clock));
}

function refusal(
  type: 'bad_request' | 'method_not_allowed' | 'request_headers_too_large',
  settings: ServeSettings,
  clock: Clock,
): string {
  const error = proxyError(type);
  const body = renderProxyError(error, settings.detail, clock.nowMs());
  const server = settings.serverName === undefined ? '' : `Server: ${settings.serverName}\r\n`;
  const head = `HTTP/1.1 ${statusOf(error)} Refused\r\n${server}Content-Type: application/json\r\n`;
  return `${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}
