import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { newFolder, type SluiceProcess, spawnSluice, startSluice } from '../support/sluice-process.ts';
import { a, b, ca, stranger } from '../unit/raft/transport/certificates.ts';

interface Overview {
  readonly leader: string | null;
  readonly members: readonly { readonly nodeId: string }[];
}

describe('nodes that talk to each other under mutual TLS', () => {
  const folder = newFolder();
  const running: SluiceProcess[] = [];
  let peers: Record<'a' | 'b' | 'c', { readonly raft: number; readonly api: number }>;

  before(async () => {
    const ports = async () => ({ raft: await freePort(), api: await freePort() });
    peers = { a: await ports(), b: await ports(), c: await ports() };
    // Without a token the certificates alone tell who is who.
    running.push(...(await Promise.all([start('a', a), start('b', b)])));
  });

  after(() => Promise.all(running.map((sluice) => sluice.stop('SIGKILL'))));

  const pem = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  const controlPlane = (nodeId: keyof typeof peers, { cert, key }: typeof a): string => {
    const files = { cert: pem(`${nodeId}.crt`, cert), key: pem(`${nodeId}.key`, key), ca: pem('ca', ca) };
    const names = nodeId === 'c' ? (['a', 'b', 'c'] as const) : (['a', 'b'] as const);
    const list = names.map((name) => `"${name}=127.0.0.1:${peers[name].raft}"`).join(', ');
    return (
      `  advertiseAddress: 127.0.0.1:${peers[nodeId].api}\n` +
      `  raft: { nodeId: ${nodeId}, bindAddress: "127.0.0.1:${peers[nodeId].raft}", peers: [${list}], ` +
      `tls: { cert: ${files.cert}, key: ${files.key}, ca: ${files.ca} } }\n`
    );
  };

  const start = (nodeId: 'a' | 'b', certificate: typeof a): Promise<SluiceProcess> =>
    startSluice({
      port: peers[nodeId].api,
      controlPlane: controlPlane(nodeId, certificate),
      more: 'proxy: { workers: 1 }',
    });

  it('are one cluster: written here, read there', async () => {
    const [first, second] = running.map(({ url }) => apiClient(url));
    await first?.create('groups', { name: 'one' });
    await second?.create('groups', { name: 'two' });
    for (const api of [first, second]) expect((await api?.get<object[]>('/groups'))?.body).to.have.length(2);
    const { leader, members } = (await first?.get<Overview>('/cluster'))?.body ?? { leader: null, members: [] };
    expect(members.map(({ nodeId }) => nodeId)).to.deep.equal(['a', 'b']);
    expect(leader).to.be.oneOf(['a', 'b']);
  });

  const outsiders = {
    'whose certificate names another': [b, /the certificate does not name c/],
    'whose certificate the authority did not sign': [stranger, /peer 127\.0\.0\.1:\d+: closed by the peer/],
  } as const;
  for (const [what, [certificate, reason]] of Object.entries(outsiders))
    it(`let no node in ${what}`, async () => {
      const storePath = join(newFolder(), 'data');
      const file = pem(
        'outsider.yaml',
        `controlPlane:\n  address: 127.0.0.1:${peers.c.api}\n  storePath: ${storePath}\n` +
          `${controlPlane('c', certificate)}log: { format: json }\n`,
      );
      const outsider = spawnSluice(['--config', file]);
      const said: string[] = [];
      outsider.stdout?.on('data', (chunk) => said.push(String(chunk)));
      try {
        await eventually(() => expect(said.join('')).to.match(reason));
        expect(said.join('')).not.to.contain('joins cluster');
        for (const { url } of running) {
          const { members } = (await apiClient(url).get<Overview>('/cluster')).body;
          expect(members.map(({ nodeId }) => nodeId)).to.deep.equal(['a', 'b']);
        }
      } finally {
        outsider.kill('SIGKILL');
      }
    });
});
