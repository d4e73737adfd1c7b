// `npm run cluster`: three nodes on this machine, on free ports, with their logs side by side. For looking at a cluster,
// and for trying what happens when a node goes. Ctrl-C stops all three and removes what they stored.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './build.mjs';
import { programOptions } from './node-options.mjs';

const colours = { a: 36, b: 33, c: 35 };
const folder = mkdtempSync(join(tmpdir(), 'sluice-cluster-'));
const nodes = [];
for (const nodeId of ['a', 'b', 'c']) nodes.push({ nodeId, api: await freePort(), raft: await freePort() });
const clusterToken = randomBytes(16).toString('hex');
let stopping = false;

process.on('SIGINT', stop);
process.on('SIGTERM', stop);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

for (const node of nodes) node.child = start(node);
await Promise.all(nodes.map((node) => node.ready));
if (nodes.every(({ child }) => child.exitCode === null)) process.stdout.write(invitation());

function start(node) {
  const child = spawn(
    process.execPath,
    [...programOptions, '--enable-source-maps', join(root, 'dist/src/main.js'), '--config', settingsFile(node)],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C reaches this script alone, which then stops the nodes in an orderly way.
      detached: true,
    },
  );
  const isReady = Promise.withResolvers();
  node.ready = isReady.promise;
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      const entry = parsed(line);
      if (entry?.msg === 'ready') isReady.resolve();
      print(node.nodeId, entry === undefined ? line : describe(entry));
    });
  }
  child.once('close', (code, signal) => {
    isReady.resolve();
    print(node.nodeId, `ended: ${signal ?? code}`);
    if (nodes.every((one) => one.child.exitCode !== null || one.child.signalCode !== null)) process.exit(0);
  });
  return child;
}

function settingsFile({ nodeId, api, raft }) {
  const storePath = join(folder, nodeId);
  mkdirSync(storePath);
  const peers = nodes.map((peer) => `${peer.nodeId}=127.0.0.1:${peer.raft}`);
  const settings = {
    controlPlane: {
      address: `127.0.0.1:${api}`,
      advertiseAddress: `127.0.0.1:${api}`,
      storePath,
      raft: { nodeId, bindAddress: `127.0.0.1:${raft}`, peers, clusterToken },
    },
    proxy: { workers: 1 },
    log: { format: 'json', level: 'info' },
  };
  const file = join(folder, `${nodeId}.yaml`);
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(settings, undefined, 2));
  return file;
}

function invitation() {
  const [first, second] = nodes.map(({ api }) => `http://127.0.0.1:${api}/api/v1`);
  const list = nodes.map(({ nodeId, api, child }) => `  ${nodeId}  http://127.0.0.1:${api}  process ${child.pid}`);
  return `
Three nodes are ready.

${list.join('\n')}

Try:
  curl -s ${first}/cluster                                     who leads
  curl -s -X POST ${first}/groups -d '{"name":"shop"}'         write on one node
  curl -s ${second}/groups                                     read it on another
  curl -s -X POST ${second}/cluster/transfer                   let another node lead
  kill -9 ${nodes[0].child.pid}                                          and write on: two of three go on

Ctrl-C stops all and removes ${folder}.

`;
}

/** Stops the nodes, once: a terminal and the launcher may both pass on one Ctrl-C, and a second signal ends a node at once. */
function stop() {
  if (stopping) return;
  stopping = true;
  for (const { child } of nodes) if (child?.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
}

function print(nodeId, line) {
  const prefix = process.stdout.isTTY ? `\x1b[${colours[nodeId]}m${nodeId}\x1b[0m` : nodeId;
  process.stdout.write(`${prefix} │ ${line}\n`);
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function describe({ time, level, msg, ...fields }) {
  const rest = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
  return [String(time).slice(11, 23), String(level).padEnd(5), msg, ...rest].join(' ');
}

/** Free port of 127.0.0.1. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
