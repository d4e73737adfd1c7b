// An upstream of HTTP/2 in a test: Node's own server, or one that writes frames by hand.
import http2, { type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type Frame, frame, framesIn } from './http2-frames.ts';
import type { ProxyBed } from './proxy-bed.ts';

export interface Http2Upstream {
  readonly port: number;
  readonly sessions: ReadonlySet<ServerHttp2Session>;
  /** Sessions ever opened. */
  readonly opened: number;
}

export async function http2Upstream(
  bed: ProxyBed,
  answer: (stream: ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void,
  options: http2.SecureServerOptions = {},
): Promise<Http2Upstream> {
  const server = options.key === undefined ? http2.createServer(options) : http2.createSecureServer(options);
  const upstream = { port: 0, sessions: new Set<ServerHttp2Session>(), opened: 0 };
  server.on('session', (session) => {
    upstream.opened++;
    upstream.sessions.add(session);
    session.on('error', () => {});
    session.on('close', () => upstream.sessions.delete(session));
  });
  server.on('stream', (stream: ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
    stream.on('error', () => {});
    answer(stream, headers);
  });
  upstream.port = await listening(server as unknown as Server);
  bed.atEnd(
    () =>
      new Promise((resolve) => {
        for (const session of upstream.sessions) session.destroy();
        server.close(() => resolve());
      }),
  );
  return upstream;
}

/** `answer` is called with each frame that is no SETTINGS; what it writes is sent. SETTINGS have been exchanged. */
export async function frameUpstream(
  bed: ProxyBed,
  answer: (frame: Frame, socket: Socket, connection: number) => void,
  greeting: Buffer = frame('SETTINGS', 0, 0),
): Promise<number> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const connection = ++connections;
    let held = Buffer.alloc(0);
    let prefaced = false;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.write(greeting);
    socket.on('data', (chunk: Buffer) => {
      held = Buffer.concat([held, chunk]);
      if (!prefaced) {
        held = held.subarray(24);
        prefaced = true;
      }
      for (
        ;
        held.length >= 9 && held.length >= 9 + held.readUIntBE(0, 3);
        held = held.subarray(9 + held.readUIntBE(0, 3))
      ) {
        const [first] = framesIn(held);
        if (first?.type === 'SETTINGS' && first.flags === 0) socket.write(frame('SETTINGS', 1, 0));
        else if (first !== undefined && first.type !== 'SETTINGS') answer(first, socket, connection);
      }
    });
  });
  bed.atEnd(
    () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  );
  return listening(server);
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
