// Relay over loopback, with its two ends: a server as the API runs it, without the API, and a client as a member has it.

import { once } from 'node:events';
import { createServer as createPlain, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTls, type ServerOptions } from 'node:https';
import { TLSSocket } from 'node:tls';
import { LeaderConnections, type LeaderConnectionsOptions } from '../../src/cluster/relay/leader-connections.ts';
import { RelayClient, type RelayClientOptions } from '../../src/cluster/relay/relay-client.ts';
import { relayKey } from '../../src/cluster/relay/relay-credential.ts';
import { RelayServer, type RelayServerOptions } from '../../src/cluster/relay/relay-server.ts';
import type { ReceivedOutcome, RelayRequest, RelayTarget } from '../../src/cluster/relay/relayed-write.ts';
import { SluiceError } from '../../src/errors.ts';
import type { RequestId } from '../../src/model/answers/member-messages.ts';
import type { Command, Result } from '../../src/state/command.ts';
import { decodeCommand, encodeCommand } from '../../src/state/command-codec.ts';
import { SpecText } from '../../src/state/spec-text.ts';
import { systemClock } from '../../src/util/clock.ts';

export const token = 'a token of sixteen characters';
export const clusterId = 'cluster-a';
export const requestId: RequestId = { origin: 'b', incarnation: 7, boot: 1, seq: 3, ackedBelow: 2 };

export const createRoute = (fields: Partial<Command> & { spec?: object } = {}): Uint8Array => {
  const { spec, ...rest } = fields;
  const command = {
    op: 'put',
    kind: 'routes',
    id: 'a',
    mode: 'create',
    spec: new SpecText({ id: 'a', name: 'a', directResponse: { status: 200 }, ...spec }),
    v: 1,
    requestId,
    time: 1,
    ...rest,
  };
  return encodeCommand(command as Command);
};

export const applied: Result = { index: 12, status: 201, kind: 'routes', id: 'a' };

/** A leader whose log takes everything at once; what it took can be looked at. */
export class TakingTarget implements RelayTarget {
  readonly taken: Parameters<RelayTarget['receive']>[0][] = [];
  readonly #outcome: () => ReceivedOutcome | Promise<ReceivedOutcome>;

  constructor(outcome: () => ReceivedOutcome | Promise<ReceivedOutcome> = () => appliedOutcome) {
    this.#outcome = outcome;
  }

  async receive(write: Parameters<RelayTarget['receive']>[0]): Promise<ReceivedOutcome> {
    this.taken.push(write);
    return this.#outcome();
  }
}

const appliedOutcome: ReceivedOutcome = { outcome: 'applied', index: applied.index, result: applied };

export const relayServer = (options: Partial<RelayServerOptions> = {}): RelayServer =>
  new RelayServer({
    target: new TakingTarget(),
    clusterId: () => clusterId,
    decode: (bytes) => decodeCommand(bytes),
    key: relayKey(token),
    clock: systemClock,
    ...options,
  });

let nonces = 0;
export const newNonce = (): string => `nonce-${String(++nonces).padStart(20, '0')}`;

/** A client with connections of its own. */
export function relayClient({
  tls,
  clock = systemClock,
  ...options
}: Partial<Omit<RelayClientOptions, 'clock'> & LeaderConnectionsOptions> = {}) {
  const connections = new LeaderConnections({ tls, clock });
  const client = new RelayClient({
    connections,
    clusterId: () => clusterId,
    key: relayKey(token),
    clock,
    newNonce,
    ...options,
  });
  return { send: (request: RelayRequest) => client.send(request), close: () => connections.close() };
}

export const requestTo = (address: string, fields: Partial<RelayRequest> = {}): RelayRequest => ({
  leader: { nodeId: 'a', address },
  requestId,
  command: createRoute(),
  remainingMs: 5_000,
  ...fields,
});

/** Servers of one test; closed together. */
export class Servers {
  readonly #servers: Server[] = [];

  /** Listens on a free port of 127.0.0.1 and gives `host:port`. */
  async listen(listener: RequestListener, tls?: ServerOptions): Promise<string> {
    const server = tls === undefined ? createPlain(listener) : createTls(tls, listener);
    this.#servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return `127.0.0.1:${address.port}`;
  }

  /** A relay server behind a port, as the API runs it. */
  relay(server: Answering, tls?: ServerOptions): Promise<string> {
    return this.listen((request, response) => {
      void answer(server, request).then(({ status, headers, body }) => response.writeHead(status, headers).end(body));
    }, tls);
  }

  async close(): Promise<void> {
    for (const server of this.#servers.splice(0)) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  }
}

interface Answering {
  take(...given: Parameters<RelayServer['take']>): Promise<Answered>;
}

interface Answered {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

async function answer(server: Answering, request: IncomingMessage): Promise<Answered> {
  const { method = '', url: path = '', headers, socket } = request;
  const { authorization } = headers;
  const contentDigest = headers['content-digest']?.toString();
  const isCertified = socket instanceof TLSSocket && socket.authorized;
  const { remoteAddress } = socket;
  const body = Buffer.concat(await request.toArray());
  try {
    return await server.take({ method, path, authorization, contentDigest, remoteAddress, isCertified }, body);
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    return { status: error.status, body: JSON.stringify({ error: error.message }) };
  }
}
