// `npm run bench:exchange [-- --tree DIRECTORY --shadow --rounds 100]`: CPU of a small GET over kept connections, 1,000 routes, without
// the system: what would be read is put where reads go, what is written is only made into bytes. Another tree takes part in
// the same process, in turn; with `--shadow` so does this tree with each request compared with a candidate, once with an entry that
// is alike in both, once with one whose target and fields differ. It shows a hundredth of a microsecond; what that is of a real request,
// `npm run bench -- small-get-1000 --tree NAME=DIRECTORY` tells.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { optionsOf } from '../../raft/testing/commands/options.ts';
import type { HandleSocket } from '../../src/proxy/socket/handle-socket.ts';
import type { StreamHandle, StreamRequest } from '../../src/proxy/socket/stream-handle.ts';
import type { Clock } from '../../src/util/clock.ts';
import { freePort } from '../support/free-port.ts';
import { listening } from '../support/proxy-bed.ts';
import { WorkersInThread } from '../support/workers-in-thread.ts';
import { settingsOf } from './data-plane-settings.ts';

const { values } = optionsOf(import.meta.url, {
  options: {
    tree: { type: 'string', multiple: true, default: [] as string[] },
    shadow: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '100' },
  },
});
const rounds = Number(values.rounds);
const perRound = 40_000;
const connections = 64;

const head = 'HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Wed, 25 Nov 2026 02:00:00 GMT\r\nContent-Type: text/plain';
const answer = Buffer.from(`${head}\r\nContent-Length: 100\r\nConnection: keep-alive\r\n\r\n${'x'.repeat(100)}`);

interface Handle extends StreamHandle {
  /** Owner in trees before `taker`. */
  owner?: unknown;
  /** Ours; undefined: it writes to the system. */
  side?: 'client' | 'upstream';
}

const binding = (name: string) => Reflect.apply(Reflect.get(process, 'binding'), process, [name]);
const { kReadBytesOrError, kLastWriteWasAsync, streamBaseState } = binding('stream_wrap') as {
  readonly kReadBytesOrError: number;
  readonly kLastWriteWasAsync: number;
  readonly streamBaseState: Int32Array;
};

/** Prototype of handles that has `writeLatin1String`. */
function handlePrototype(): Handle {
  const { TCP } = binding('tcp_wrap') as { readonly TCP: { readonly prototype: Handle } };
  let { prototype } = TCP;
  while (!Object.hasOwn(prototype, 'writeLatin1String')) prototype = Object.getPrototypeOf(prototype);
  return prototype;
}

const prototype = handlePrototype();
const written = Buffer.allocUnsafeSlow(65_536);
const writesToSystem = prototype.writeLatin1String;
/** Handles that the proxy has written to, while it is connected for real. */
const seen = new Set<Handle>();
/** Those that have said something in this turn. */
let spoken: Handle[] = [];
let isReal = true;

const receiverOf = ({ taker, owner }: Handle): string | undefined =>
  ((taker ?? owner) as HandleSocket | undefined)?.receiver?.constructor.name;

prototype.writeLatin1String = function (this: Handle, request: StreamRequest, text: string): number {
  if (isReal) seen.add(this);
  else if (this.side === undefined && receiverOf(this) === 'ClientConnection') this.side = 'upstream';
  if (isReal || this.side === undefined) return writesToSystem.call(this, request, text);
  written.write(text, 'latin1');
  streamBaseState[kLastWriteWasAsync] = 0;
  spoken.push(this);
  return 0;
};

interface Tree {
  readonly name: string;
  readonly clients: readonly Handle[];
  readonly request: Buffer;
  readonly readBuffer: Buffer;
  readonly micros: number[];
  /** Requests that were compared so far. */
  readonly compared: () => number;
}

/** Options for a worker in this thread; trees of former commits serve there where there are no workers. */
async function inThread(name: string, clock: Clock) {
  const path = `${name}/src/proxy/worker/worker-server.ts`;
  if (!existsSync(path)) return await settingsOf(name, 0);
  const { serveWorker }: typeof import('../../src/proxy/worker/worker-server.ts') = await import(path);
  return { ...(await settingsOf(name, 1)), threads: new WorkersInThread(clock, undefined, serveWorker) };
}

/** A proxy of that tree in this thread, with connections that have carried a real request each. */
/** @param candidate how its entry of the request is: absent where nothing is compared */
async function started(name: string, candidate?: 'alike' | 'different'): Promise<Tree> {
  const isShadowed = candidate !== undefined;
  const from = <M>(path: string): Promise<M> => import(`${name}/src/${path}`);
  // Trees of former commits have the clock and the read buffer elsewhere.
  const clock = existsSync(`${name}/src/clock.ts`) ? 'clock.ts' : 'util/clock.ts';
  const { systemClock } = await from<typeof import('../../src/util/clock.ts')>(clock);
  const { createProxy } = await from<typeof import('../../src/proxy/proxy.ts')>('proxy/proxy.ts');
  const { silentLogger } = await from<typeof import('../../src/telemetry/logger.ts')>('telemetry/logger.ts');
  const socket = await from<{ sharedReadBuffer?: Buffer; arrived?: Buffer }>('proxy/socket/byte-socket.ts');
  const readBuffer = socket.sharedReadBuffer ?? socket.arrived;
  if (readBuffer === undefined) throw new Error(`${name} has no read buffer`);
  const upstream = createServer((socket) => socket.on('data', () => socket.write(answer)).on('error', () => {}));
  const [port, upstreamPort] = [await freePort(), await listening(upstream)];
  const forward = { destinations: [{ destinationId: 'd' }] };
  const edited = {
    rewrite: { pathRegex: { pattern: '^/service', substitution: '/moved' } },
    headers: { requestHeadersToAdd: [{ key: 'x-candidate', value: '1' }] },
  };
  const routes = Array.from({ length: 1_000 }, (_, i) => {
    const id = `r${String(i).padStart(4, '0')}`;
    return { id, name: id, match: { pathPrefix: `/service-${i}/api` }, forward };
  });
  const snapshot = {
    listeners: [{ id: 'l', name: 'l', address: '127.0.0.1', port }],
    destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstreamPort }],
    ...{ routes, groups: [], middlewares: [] },
  };
  const about = { id: 's', name: 's', createdAt: '2026-01-01T00:00:00Z', index: 1 };
  const proxy = createProxy({
    ...(await inThread(name, systemClock)),
    ...{ clock: systemClock, telemetry: { logger: silentLogger, traces: undefined } },
    source: {
      subscribe(subscriber) {
        subscriber({ ...about, snapshot } as unknown as Parameters<typeof subscriber>[0]);
        return () => {};
      },
      subscribeCandidate(subscriber) {
        if (!isShadowed) return () => {};
        // Equal routes are one object in both tables, as after a change of others.
        const others =
          candidate === 'alike' ? routes : routes.map((route) => ({ ...route, forward: { ...forward, ...edited } }));
        const changed = {
          ...snapshot,
          routes: [...others.slice(1), { ...others[0], match: { pathPrefix: '/moved' } }],
        };
        const config = { ...about, id: 't', index: 2, snapshot: changed };
        const share = { rollout: 'r', index: 2, since: 2, share: 0, shadowSample: 1, by: 'client', deadmanMs: 60_000 };
        subscriber({ ...share, key: { clientIp: true }, config } as unknown as Parameters<typeof subscriber>[0]);
        return () => {};
      },
    },
  });
  await proxy.start();
  await proxy.installed(1, 5_000);
  while (isShadowed && proxy.candidate() === undefined) await setTimeout(5);
  const request = Buffer.from(`GET /service-500/api/x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  isReal = true;
  seen.clear();
  for (let i = 0; i < connections; i++) {
    const client = connect(port, '127.0.0.1').on('error', () => {});
    client.write(request);
    await once(client, 'data');
  }
  isReal = false;
  const clients = [...seen].filter((handle) => receiverOf(handle) === 'ServerConnection');
  for (const handle of clients) handle.side = 'client';
  const shown = isShadowed ? `${name}, each request compared with a candidate whose entry is ${candidate}` : name;
  const compared = () => (isShadowed ? (proxy.figures('candidate').shadow?.requests ?? 0) : 0);
  return { name: shown, clients, request, readBuffer, micros: [], compared };
}

function deliver(handle: Handle, bytes: Buffer, { readBuffer }: Tree): void {
  readBuffer.set(bytes);
  streamBaseState[kReadBytesOrError] = bytes.length;
  handle.onread();
}

/** Resolves when so many requests have been answered. */
function exchange(tree: Tree, requests: number): Promise<void> {
  let left = requests;
  const { promise, resolve } = Promise.withResolvers<void>();
  const turn = (): void => {
    const answering = spoken;
    spoken = [];
    for (const handle of answering) {
      if (handle.side === 'upstream') deliver(handle, answer, tree);
      else if (--left > 0) deliver(handle, tree.request, tree);
    }
    if (answering.length === 0 && left <= 0) resolve();
    else setImmediate(turn);
  };
  for (const handle of tree.clients) deliver(handle, tree.request, tree);
  setImmediate(turn);
  return promise;
}

const at = (share: number, list: readonly number[]): string =>
  (list.toSorted((a, b) => a - b)[Math.floor(share * (list.length - 1))] ?? 0).toFixed(2);

const here = new URL('../..', import.meta.url).pathname;
const trees: Tree[] = [];
for (const name of [here, ...values.tree]) trees.push(await started(name));
if (values.shadow) for (const candidate of ['alike', 'different'] as const) trees.push(await started(here, candidate));
for (const tree of trees) await exchange(tree, 5 * perRound);
for (let round = 0; round < rounds; round++) {
  for (const tree of round % 2 === 0 ? trees : trees.toReversed()) {
    const before = process.cpuUsage();
    await exchange(tree, perRound);
    const { user, system } = process.cpuUsage(before);
    tree.micros.push((user + system) / perRound);
  }
}
for (const { name, micros, compared } of trees) {
  if (compared() > 0) console.log(`${compared()} requests were compared`);
  console.log(
    `${at(0, micros)} least, ${at(0.25, micros)} lowest quarter, ${at(0.5, micros)} median µs of CPU: ${name}`,
  );
}
process.exit(0);
