// Services behind the proxies: nginx as upstream for every protocol, and a service that middlewares ask.
// `node services.ts <port of HTTP/1.1> <port of gRPC> <deaf port>` is that service: it allows everything and changes
// nothing, and at the last port it accepts connections that it never reads.
import { createServer as createHttp } from 'node:http';
import { createServer as createHttp2, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTcp } from 'node:net';
import { join } from 'node:path';
import { cores, freePort, type Machine } from './machine.ts';

/** Ports on 127.0.0.1. */
export interface Behind {
  readonly upstream: number;
  /** HTTP/2 in cleartext; answers every POST as a unary call of gRPC. */
  readonly grpc: number;
  readonly service: number;
  readonly grpcService: number;
  /** Takes connections and reads nothing. */
  readonly deaf: number;
}

/** A message of 100 bytes behind the five that gRPC puts before it. */
const grpcMessage = Buffer.concat([Buffer.of(0, 0, 0, 0, 100), Buffer.alloc(100, 'x')]);

/** About 23 KB of JSON, as an API answers lists: names repeat, values do not. */
const records = JSON.stringify(
  Array.from({ length: 200 }, (_, id) => {
    const mixed = Math.imul(id + 1, 2_654_435_761) >>> 0;
    const named = { id, sku: mixed.toString(36), name: `Article ${mixed % 977}`, price: (mixed % 100_000) / 100 };
    return { ...named, currency: 'EUR', inStock: mixed % 3 > 0, tags: [`t${mixed % 17}`, `t${mixed % 23}`] };
  }),
);

export const nginxFile = (machine: Machine, name: string, server: string, http = ''): string =>
  machine.file(
    `${name}.conf`,
    `daemon off; worker_processes 1; pid ${join(machine.folder, `${name}.pid`)}; error_log stderr crit;
events { worker_connections 20000; }
http { access_log off; keepalive_requests 1000000000; client_max_body_size 0; http2_max_concurrent_streams 1000;
client_body_temp_path ${machine.folder}; proxy_temp_path ${machine.folder}; fastcgi_temp_path ${machine.folder};
uwsgi_temp_path ${machine.folder}; scgi_temp_path ${machine.folder};
${http} ${server} }`,
  );

export async function startBehind(machine: Machine): Promise<Behind> {
  const [upstream, grpc, service, grpcService, deaf] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  machine.file('1m', Buffer.alloc(1 << 20, 'x'));
  machine.file('64k', Buffer.alloc(65_536, 'x'));
  machine.file('records', records);
  machine.file('10m', Buffer.alloc(10 << 20, 'x'));
  machine.file('grpc-message', grpcMessage);
  machine.file('grpc-request', grpcMessage);
  const server = `server { listen 127.0.0.1:${upstream} backlog=4096; root ${machine.folder};
location / { default_type application/json; return 200 '{"message":"${'x'.repeat(86)}"}'; }
location /records { default_type application/json; try_files /records =404; } location /64k { sendfile on; try_files /64k =404; } location /1m { sendfile on; try_files /1m =404; } location /10m { sendfile on; try_files /10m =404; }
location /upload { client_body_buffer_size 2m; proxy_pass http://127.0.0.1:${upstream}/sink; } location /sink { return 200 'ok'; } }
server { listen 127.0.0.1:${grpc} http2 backlog=4096; root ${machine.folder};
location / { error_page 405 =200 /grpc-message; try_files /grpc-message =404; default_type application/grpc; add_trailer grpc-status 0; } }`;
  const started = [
    [machine.start(cores.load, 'upstream', 'nginx', ['-c', nginxFile(machine, 'upstream', server)]), upstream],
    [
      machine.start(cores.load, 'service', process.execPath, [
        import.meta.filename,
        ...[service, grpcService, deaf].map(String),
      ]),
      grpcService,
    ],
  ] as const;
  for (const [pid, port] of started) await machine.listening(port, pid, port === upstream ? 'upstream' : 'service');
  return { upstream, grpc, service, grpcService, deaf };
}

/** `allowed: true` of a check; of a processor the same phase as asked, with nothing in it. */
function answerOf(path: string, message: Buffer): Buffer {
  const answer = path.includes('/Check') ? Buffer.of(0x08, 1) : Buffer.of(message[0] ?? 0, 0);
  return Buffer.concat([Buffer.of(0, 0, 0, 0, answer.length), answer]);
}

function serve(httpPort: number, grpcPort: number, deafPort: number): void {
  createTcp({ pauseOnConnect: true }, (socket) => socket.on('error', () => {})).listen(deafPort, '127.0.0.1');
  createHttp((request, response) => {
    request.resume();
    response.end();
  }).listen(httpPort, '127.0.0.1');
  const server = createHttp2();
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const path = String(headers[':path']);
    let held = Buffer.alloc(0);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.on('data', (chunk: Buffer) => {
      held = Buffer.concat([held, chunk]);
      while (held.length >= 5 && held.length >= 5 + held.readUInt32BE(1)) {
        const end = 5 + held.readUInt32BE(1);
        stream.write(answerOf(path, held.subarray(5, end)));
        held = held.subarray(end);
      }
    });
    stream.on('end', () => stream.end());
    stream.on('error', () => {});
  });
  server.listen(grpcPort, '127.0.0.1');
}

if (process.argv[1] === import.meta.filename) {
  const [http = 0, grpc = 0, deaf = 0] = process.argv.slice(2).map(Number);
  serve(http, grpc, deaf);
}
