// Client certificates against a real process, whose workers do nothing else with TLS: what OpenSSL remembers of a
// certificate that does not verify is no failure of what the thread reads next.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { needs } from '../support/needs.ts';
import { newFolder, startSluice } from '../support/sluice-process.ts';

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Makes an authority of always the same name, and a certificate of it for clients, with what openssl adds to both. */
function madeBy(folder: string, name: string): { readonly ca: string; readonly client: { cert: string; key: string } } {
  const at = (part: string): string => join(folder, `${name}.${part}`);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' });
  const ca = ['-keyout', at('ca.key'), '-out', at('ca.crt')];
  openssl('req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=Clients', ...ca);
  openssl('req', ...newKey, '-subj', '/CN=client', '-keyout', at('key'), '-out', at('csr'));
  const by = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial'];
  openssl('x509', '-req', '-in', at('csr'), ...by, '-days', '2', '-out', at('crt'));
  const read = (part: string): string => readFileSync(at(part), 'utf8');
  return { ca: read('ca.crt'), client: { cert: read('crt'), key: read('key') } };
}

/** Sends a request once the session has come, which is after the handshake, and gives the body; `out` without a response. */
function askLate(port: number, client: { cert: string; key: string }): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...client });
    socket.once('session', () => socket.write('GET / HTTP/1.1\r\nHost: own.test\r\nConnection: close\r\n\r\n'));
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text.split('\r\n\r\n')[1] ?? 'out'));
  });
}

describe('client certificates of a running Sluice', () => {
  const folder = newFolder();
  before(function () {
    needs(this, 'openssl');
  });

  for (const mode of ['require', 'optional', 'unverified'])
    it(`that do not verify leave what comes after them alone (${mode})`, async () => {
      const { cert, key } = makeCertificate({ dnsNames: ['own.test'] });
      const own = madeBy(folder, `own-${mode}`);
      const impostor = madeBy(folder, `impostor-${mode}`);
      const port = await freePort();
      const sluice = await startSluice({ more: 'proxy: { workers: 1 }' });
      try {
        const api = apiClient(sluice.url);
        const tls = { cert, key, clientAuth: { mode, ca: own.ca } };
        await api.create('listeners', { id: 'edge', name: 'edge', address: '127.0.0.1', port, tls });
        await api.create('routes', { name: 'all', directResponse: { status: 200, body: 'in' } });
        await api.activateAs('v1');
        const bodies: string[] = [];
        for (const { client } of [impostor, impostor, own, impostor, own]) bodies.push(await askLate(port, client));
        const met = mode === 'unverified' ? 'in' : 'out';
        expect(bodies).to.deep.equal([met, met, 'in', met, 'in']);
      } finally {
        await sluice.stop();
      }
    });
});
