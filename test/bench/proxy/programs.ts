// Sluice as it is run, for the benchmark: the whole program of the build, as a node whose proxy serves, or as a proxy
// apart from a node that serves nothing and runs beside the load.
import { join } from 'node:path';
import { programOptions } from '../../../scripts/node-options.mjs';
import { cores, freePort, type Machine } from './machine.ts';
import type { Contestant, Place } from './proxies.ts';

const program = new URL('../../../dist/src/main.js', import.meta.url).pathname;
/** Address of the node's own proxy where the node serves a proxy apart. */
const aside = '127.0.0.71';

export const sluiceProgram = (name: string, mode: 'embedded' | 'proxy'): Contestant => ({
  name,
  async start({ machine, behind }) {
    const [port, api] = [await freePort(), await freePort()];
    const isEmbedded = mode === 'embedded';
    const log = 'log: { format: json, level: warn }';
    const node = run(machine, isEmbedded ? cores.proxy : cores.load, isEmbedded ? name : `${name}-node`, [
      `controlPlane: { address: "127.0.0.1:${api}", storePath: ${join(machine.folder, `${name}-data`)} }`,
      `proxy: { workers: 1, bindAddress: ${isEmbedded ? '127.0.0.1' : aside} }`,
      log,
    ]);
    await machine.listening(api, node, name);
    await activate(api, port, behind);
    const pid = isEmbedded
      ? node
      : run(machine, cores.proxy, name, [
          'mode: proxy',
          `proxy:\n  controlPlaneUrl: http://127.0.0.1:${api}\n  storePath: ${join(machine.folder, `${name}-proxy`)}`,
          '  workers: 1\n  bindAddress: 127.0.0.1\n  admin: { address: none }',
          log,
        ]);
    await machine.listening(port, pid, name);
    return { name, port, pid };
  },
});

function run(machine: Machine, core: number, name: string, lines: readonly string[]): number {
  const file = machine.file(`${name}.yaml`, `${lines.join('\n')}\n`);
  return machine.start(core, name, process.execPath, [...programOptions, program, '--config', file]);
}

/** Creates a route that forwards everything; repeats while the node is not ready. */
async function activate(api: number, port: number, behind: Place['behind']): Promise<void> {
  const create = (kind: string, body: object) => ({ op: 'create', kind, body });
  const operations = [
    create('listeners', { name: 'web', address: '127.0.0.1', port }),
    create('destinations', { id: 'u', name: 'u', host: '127.0.0.1', port: behind.upstream }),
    create('routes', { name: 'all', forward: { destinations: [{ destinationId: 'u' }] } }),
  ];
  const body = JSON.stringify({ operations, snapshot: { name: 'bench', activate: true, strict: true } });
  const headers = { 'content-type': 'application/json' };
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${api}/api/v1/batch`, { method: 'POST', body, headers });
    if (answer.status === 200) return;
    if (answer.status !== 503) throw new Error(`${answer.status} ${await answer.text()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
