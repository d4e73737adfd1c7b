// Relay of TCP connections that can be cut, and that tells of the bytes that pass.
import { connect, createServer, type Socket } from 'node:net';

export interface RelayOptions {
  /** Called with the bytes of a client, before they are passed on. */
  readonly onRequest?: (bytes: Buffer) => void;
  /** Called with the bytes of an answer. Returns whether they are passed on. */
  readonly onAnswer?: (bytes: Buffer) => boolean;
}

export interface Relay {
  readonly port: number;
  cut(): void;
  mend(): void;
  close(): void;
}

export interface RelayPlace {
  readonly listen: { readonly host: string; readonly port: number };
  /** Hosts that connections are spread over. */
  readonly hosts: readonly string[];
}

const loopback: RelayPlace = { listen: { host: '127.0.0.1', port: 0 }, hosts: ['127.0.0.1'] };

export async function startRelay(
  target: number,
  { onRequest, onAnswer }: RelayOptions = {},
  { listen, hosts }: RelayPlace = loopback,
): Promise<Relay> {
  let next = 0;
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = connect(target, hosts[next++ % hosts.length]);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    client.on('data', (bytes: Buffer) => {
      onRequest?.(bytes);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => {
      if (onAnswer?.(bytes) ?? true) client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(listen, resolve);
  });
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    cut() {
      isCut = true;
      destroyAll();
    },
    mend() {
      isCut = false;
    },
    close() {
      server.close();
      destroyAll();
    },
  };
}
