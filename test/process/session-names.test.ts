// Sessions of TLS under another server name than the one they were made for (RFC 6066 §3), with a client that tries: Node's own
// does not.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { givenSockets } from '../support/given-sockets.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { needs } from '../support/needs.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const run = promisify(execFile);
const pairOf = (...dnsNames: string[]) => (({ cert, key }) => ({ cert, key }))(makeCertificate({ dnsNames }));
const wildcard = pairOf('*.wild.test');

describe('a TLS session', () => {
  let sluice: SluiceProcess;
  const ports = new Map<string, number>();
  const listeners = {
    'one certificate for all names': wildcard,
    'a certificate for each name': {
      ...pairOf('own.test'),
      certificates: [pairOf('a.wild.test'), pairOf('b.wild.test')],
    },
    'refusal of unknown names': { ...wildcard, unknownServerName: 'reject' },
  };
  before(async function () {
    needs(this, 'openssl', 'bash');
    sluice = await startSluice({ more: 'proxy: { workers: 2 }' });
    const api = apiClient(sluice.url);
    for (const [name, tls] of Object.entries(listeners)) {
      const port = await freePort();
      ports.set(name, port);
      await api.create('listeners', { name, address: '127.0.0.1', port, tls });
    }
    await api.create('routes', { name: 'r', directResponse: { status: 200, body: 'served' } });
    await api.activateAs('v1');
  });
  after(() => sluice?.stop());

  /** `New` or `Reused`, of a connection that was served. */
  const ask = async (port: number, version: string, name: string | undefined, ...more: string[]): Promise<string> => {
    const request = 'GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n';
    const named = name === undefined ? '-noservername' : `-servername ${name}`;
    const client = `openssl s_client -connect 127.0.0.1:${port} ${version} ${named} ${more.join(' ')}`;
    // It ends with its input.
    const { stdout } = await run('bash', ['-c', `(printf '${request}'; sleep 1) | ${client} 2>&1`]);
    expect(stdout).to.match(/HTTP\/1\.1 200 OK.*served/s);
    return /^(New|Reused), /m.exec(stdout)?.[1] ?? '';
  };

  for (const version of ['-tls1_2', '-tls1_3']) {
    for (const kind of Object.keys(listeners)) {
      it(`goes on under its own server name alone, over ${version.slice(1)} with ${kind}`, async () => {
        const port = ports.get(kind) ?? 0;
        // Sockets of Node resume none where names choose (docs/decisions/sockets-of-node.md).
        const again = givenSockets === 'node' && kind !== 'one certificate for all names' ? 'New' : 'Reused';
        const [file, nameless] = [join(newFolder(), 'session'), join(newFolder(), 'nameless')];
        expect(await ask(port, version, 'a.wild.test', '-sess_out', file)).to.equal('New');
        const asked = await Promise.all([
          ask(port, version, 'a.wild.test', '-sess_in', file),
          ask(port, version, 'A.Wild.test', '-sess_in', file),
          ask(port, version, 'b.wild.test', '-sess_in', file),
          ask(port, version, undefined, '-sess_in', file),
          ask(port, version, undefined, '-sess_out', nameless),
        ]);
        expect(asked).to.deep.equal([again, again, 'New', 'New', 'New']);
        expect(await ask(port, version, undefined, '-sess_in', nameless)).to.equal(again);
        expect(await ask(port, version, 'a.wild.test', '-sess_in', nameless)).to.equal('New');
      });
    }
  }

  it('goes on under no other server name behind a second hello (RFC 8446 §4.1.4)', async () => {
    const port = ports.get('one certificate for all names') ?? 0;
    const file = join(newFolder(), 'session');
    // The server has no key share of the first group, and asks for another.
    const groups = ['-groups', 'ffdhe2048:P-256'];
    expect(await ask(port, '-tls1_3', 'a.wild.test', ...groups, '-sess_out', file)).to.equal('New');
    expect(await ask(port, '-tls1_3', 'b.wild.test', ...groups, '-sess_in', file)).to.equal('New');
  });

  it('that the client names by an id is forgotten', async () => {
    const port = ports.get('one certificate for all names') ?? 0;
    const file = join(newFolder(), 'session');
    expect(await ask(port, '-tls1_2', 'a.wild.test', '-no_ticket', '-sess_out', file)).to.equal('New');
    expect(await ask(port, '-tls1_2', 'b.wild.test', '-no_ticket', '-sess_in', file)).to.equal('New');
  });
});
