// Sockets of Node in the place of its internal handles: by the settings, and where a version of Node has other handles.
import { createServer } from 'node:http';
import { expect } from 'chai';
import { request as send } from 'undici';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { needsPreload } from '../support/needs.ts';
import { listening } from '../support/proxy-bed.ts';
import { ask, bodyOf } from '../support/secure-client.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const preload = new URL('../support/missing-binding.mjs', import.meta.url).pathname;
const withoutBinding = { NODE_OPTIONS: `--import=${preload}` };
const told = 'the data plane uses the sockets of Node';

const rows: readonly [
  string,
  { readonly sockets?: string; readonly env?: NodeJS.ProcessEnv; readonly warnings: number },
][] = [
  ['sockets of the default', { warnings: 0 }],
  ['native handles', { sockets: 'native', warnings: 0 }],
  ['sockets of Node, by the settings', { sockets: 'node', warnings: 0 }],
  [
    'sockets of Node, by the settings, where there are no handles',
    { sockets: 'node', env: withoutBinding, warnings: 0 },
  ],
  ['sockets of Node, for want of handles as expected', { sockets: 'native', env: withoutBinding, warnings: 1 }],
];

describe('a data plane on', () => {
  const { cert, key } = makeCertificate({ dnsNames: ['edge.test'], subject: [['CN', 'edge.test']] });
  const upstream = createServer((request, response) => void request.pipe(response));
  let sluice: SluiceProcess | undefined;
  let upstreamPort: number;
  before(async () => {
    upstreamPort = await listening(upstream);
  });
  afterEach(() => sluice?.stop());
  after(() => {
    upstream.close();
    upstream.closeAllConnections();
  });

  for (const [name, { sockets, env, warnings }] of rows)
    it(`${name} forwards bodies over TCP and TLS and resumes sessions, with ${warnings} warnings`, async function () {
      if (env !== undefined) needsPreload(this);
      const more = `proxy: { workers: 2${sockets === undefined ? '' : `, sockets: ${sockets}`} }`;
      sluice = await startSluice({ more, ...(env !== undefined && { env: { ...process.env, ...env } }) });
      const [port, securePort] = [await freePort(), await freePort()];
      const api = apiClient(sluice.url);
      await api.create('listeners', { id: 'plain', name: 'plain', address: '127.0.0.1', port });
      const tls = { cert, key };
      await api.create('listeners', { id: 'secure', name: 'secure', address: '127.0.0.1', port: securePort, tls });
      await api.create('destinations', { id: 'up', name: 'up', host: '127.0.0.1', port: upstreamPort });
      await api.create('routes', { name: 'all', forward: { destinations: [{ destinationId: 'up' }] } });
      await api.activateAs('first');
      const body = Buffer.alloc(3_000_000, 'abcdefg');
      const answer = await send(`http://127.0.0.1:${port}/`, { method: 'POST', body });
      expect(Buffer.from(await answer.body.arrayBuffer()).equals(body)).to.equal(true);
      const first = await ask(securePort, { servername: 'edge.test' });
      expect(bodyOf(first)).to.equal('');
      const { session = Buffer.alloc(0) } = first;
      expect((await ask(securePort, { servername: 'edge.test', session })).reused).to.equal(true);
      await eventually(() => {
        const lines = (sluice?.output ?? []).filter((line) => line.includes(told));
        expect(lines.length, lines.join('\n')).to.equal(warnings);
      });
    });
});
