// The same writes against etcd, where it is installed, for a figure to stand beside:
//   node test/bench/raft/etcd.ts [--etcd /usr/bin/etcd] [--seconds 5] [--nodes 1,3]
// One HTTP/2 connection to the leader, one Put of 512 bytes in flight for each client. Its clients come over the network,
// those of bench.ts call from the same process: the comparison flatters us by the cost of a request.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { type ClientHttp2Session, connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { optionsOf } from '../../../raft/testing/commands/options.ts';
import { freePort } from '../../support/free-port.ts';
import { report } from './report.ts';

const { values } = optionsOf(import.meta.url, {
  options: {
    etcd: { type: 'string', default: 'etcd' },
    seconds: { type: 'string', default: '5' },
    nodes: { type: 'string', default: '1,3' },
  },
});

if (spawnSync(values.etcd, ['--version']).error !== undefined) {
  console.log('etcd is not installed: nothing to compare with');
} else {
  for (const size of values.nodes.split(',').map(Number)) await bench(size, Number(values.seconds));
}

async function bench(size: number, seconds: number): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-bench-'));
  const ports = await Promise.all(Array.from({ length: 2 * size }, freePort));
  const members = Array.from({ length: size }, (_, at) => ({
    name: `n${at + 1}`,
    client: `http://127.0.0.1:${ports[2 * at]}`,
    peer: `http://127.0.0.1:${ports[2 * at + 1]}`,
  }));
  const cluster = members.map(({ name, peer }) => `${name}=${peer}`).join();
  const processes = members.map((member) => start(directory, member, cluster));
  try {
    const session = connect(await leaderAmong(members.map(({ client }) => client)));
    for (const clients of [1, 16, 64, 256]) await load(session, size, clients, seconds);
    session.destroy();
  } finally {
    for (const each of processes) each.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  }
}

function start(directory: string, { name, client, peer }: Record<'name' | 'client' | 'peer', string>, cluster: string) {
  const urls = ['--listen-client-urls', client, '--advertise-client-urls', client, '--listen-peer-urls', peer];
  const initial = ['--initial-advertise-peer-urls', peer, '--initial-cluster', cluster];
  const place = ['--name', name, '--data-dir', join(directory, name), '--log-level', 'error'];
  return spawn(values.etcd, [...place, ...urls, ...initial], { stdio: 'ignore' });
}

async function leaderAmong(clients: readonly string[]): Promise<string> {
  for (const end = performance.now() + 20_000; performance.now() < end; ) {
    for (const client of clients) {
      const status = await statusOf(client).catch(() => undefined);
      if (status?.leader !== undefined && status.leader === status.header?.member_id) return client;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('etcd has no leader within 20 s');
}

interface EtcdStatus {
  readonly leader?: string;
  readonly header?: { readonly member_id?: string };
}

async function statusOf(client: string): Promise<EtcdStatus> {
  const answer = await fetch(`${client}/v3/maintenance/status`, { method: 'POST', body: '{}' });
  return (await answer.json()) as EtcdStatus;
}

async function load(session: ClientHttp2Session, size: number, clients: number, seconds: number): Promise<void> {
  const latenciesMs: number[] = [];
  let lost = 0;
  const startedAt = performance.now();
  const loop = async (_: unknown, client: number) => {
    const request = putRequest(`key ${client}`, new Uint8Array(512).fill(7));
    while (performance.now() - startedAt < seconds * 1000) {
      const askedAt = performance.now();
      if (await put(session, request)) latenciesMs.push(performance.now() - askedAt);
      else lost += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, loop));
  const done = { latenciesMs, seconds: (performance.now() - startedAt) / 1000, lost };
  report(`etcd, ${size} node(s), ${clients} clients, writes of 512 bytes`, done);
}

function put(session: ClientHttp2Session, request: Buffer): Promise<boolean> {
  const path = '/etcdserverpb.KV/Put';
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  return new Promise((resolve) => {
    let status: unknown;
    stream.on('trailers', (trailers) => {
      status = trailers['grpc-status'];
    });
    stream.on('error', () => resolve(false));
    stream.on('close', () => resolve(status === '0'));
    stream.resume();
    stream.end(request);
  });
}

/** gRPC's five-byte prefix, then protobuf: field 1 the key, field 2 the value. */
function putRequest(key: string, value: Uint8Array): Buffer {
  const keyBytes = Buffer.from(key);
  const length = [(value.length & 127) | 128, value.length >> 7];
  const body = Buffer.concat([Buffer.of(0x0a, keyBytes.length), keyBytes, Buffer.of(0x12, ...length), value]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(body.length, 1);
  return Buffer.concat([prefix, body]);
}
