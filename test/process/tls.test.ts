// TLS in a real process with several workers: renewal under new connections, sessions that any worker goes on with,
// what an activation says of material that cannot be used, openssl and curl as clients.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { needs } from '../support/needs.ts';
import { ask, bodyOf } from '../support/secure-client.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const run = promisify(execFile);
const authority = makeCertificate({ authority: true, subject: [['CN', 'Edge']] });
const pair = (name: string) => {
  const { cert, key } = makeCertificate({ issuer: authority, dnsNames: [name, 'localhost'], subject: [['CN', name]] });
  return { cert, key };
};
const first = pair('first.test');
const second = pair('second.test');

describe('TLS of a running Sluice', () => {
  const folder = newFolder();
  let sluice: SluiceProcess;
  let api: ApiClient;
  let port: number;

  before(async () => {
    port = await freePort();
    sluice = await startSluice({ more: 'proxy: { workers: 2 }' });
    api = apiClient(sluice.url);
    await api.create('listeners', edge(first));
    await api.create('routes', { name: 'all', directResponse: { status: 200, body: 'served' } });
    await api.activateAs('first');
    writeFileSync(join(folder, 'ca.pem'), authority.cert);
  });
  after(() => sluice.stop());

  const edge = (tls: object) => ({ id: 'edge', name: 'edge', address: '127.0.0.1', port, tls });
  const captured = async (tls: object): Promise<{ id: string; warnings: unknown }> => {
    await api.put('/listeners/edge', edge(tls));
    const { status, body } = await api.post<{ id: string; warnings: unknown }>('/snapshots', {
      name: `s${Math.random()}`,
    });
    expect(status).to.equal(201);
    return body;
  };
  const activate = async (id: string): Promise<string | null> => {
    const { status, headers } = await api.post(`/snapshots/${id}/activate`);
    expect([status, headers.get('x-sluice-installed')]).to.deep.equal([200, '2/2']);
    return headers.get('warning');
  };

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
    it(`goes on with a session in whichever worker takes the connection (${version})`, async () => {
      const only = { servername: 'first.test', minVersion: version, maxVersion: version };
      let { session } = await ask(port, only);
      for (let i = 0; i < 24; i++) {
        const again = await ask(port, { ...only, ...(session ? { session } : {}) });
        expect(again.reused).to.equal(true);
        session = again.session ?? session;
      }
    });

  it('refuses no connection while its certificate is renewed twenty times', async () => {
    const snapshots = [await captured(first), await captured(second)];
    const shown = new Set<string>();
    const failed: string[] = [];
    let asked = 0;
    let going = true;
    const clients = Array.from({ length: 8 }, async () => {
      while (going) {
        const answer = await ask(port).catch((error: Error) => error.message);
        asked++;
        if (typeof answer === 'string' || bodyOf(answer) !== 'served') failed.push(String(answer));
        else shown.add(answer.shown);
      }
    });
    for (let i = 0; i < 20; i++) {
      const before = asked;
      expect(await activate(snapshots[i % 2]?.id ?? '')).to.equal(null);
      await eventually(() => expect(asked).to.be.greaterThan(before + 10));
    }
    going = false;
    await Promise.all(clients);
    expect(failed).to.deep.equal([]);
    expect([...shown].sort()).to.deep.equal(['CN=first.test', 'CN=second.test']);
  });

  it('is closed by an activation of material that cannot be used, which says so, and opens again', async () => {
    const { id, warnings } = await captured({ cert: first.cert, key: second.key });
    const message = 'its key cannot be used: key values mismatch: the listener stays closed';
    expect(warnings).to.deep.equal([{ pointer: '/listeners/edge/tls', message }]);
    expect(await activate(id)).to.contain(
      `listener edge does not listen on 127.0.0.1:${port}: /listeners/edge/tls ${message}`,
    );
    await eventually(async () => {
      const error = await ask(port).then(
        () => undefined,
        (reason: NodeJS.ErrnoException) => reason,
      );
      expect(error?.code).to.equal('ECONNREFUSED');
    });
    expect(await activate((await captured(first)).id)).to.equal(null);
    expect(bodyOf(await ask(port))).to.equal('served');
  });

  it('serves without a certificate that cannot be used, and the activation names it', async () => {
    const certificates = [second, { cert: 'none', key: 'none' }];
    const { id, warnings } = await captured({ ...first, certificates });
    const pointer = '/listeners/edge/tls/certificates/1';
    const message = 'its certificate is not a certificate in PEM form: it is left out';
    expect(warnings).to.deep.equal([{ pointer, message }]);
    expect(await activate(id)).to.contain(`${pointer} ${message}`);
    expect((await ask(port, { servername: 'second.test' })).shown).to.equal('CN=second.test');
    await activate((await captured(first)).id);
  });

  it('talks to openssl and curl', async function () {
    needs(this, 'openssl', 'curl');
    const at = `127.0.0.1:${port}`;
    for (const [version, name] of [
      ['-tls1_2', 'TLSv1.2'],
      ['-tls1_3', 'TLSv1.3'],
    ] as const) {
      const script = `openssl s_client -connect ${at} -servername first.test -CAfile ${folder}/ca.pem -verify_return_error ${version} -alpn h2,http/1.1 < /dev/null 2>&1`;
      const { stdout } = await run('bash', ['-c', script]);
      expect(stdout).to.contain('Verify return code: 0 (ok)').and.contain(name).and.contain('ALPN protocol: http/1.1');
    }
    const url = `https://first.test:${port}/`;
    const { stdout } = await run('curl', [
      '-s',
      '--cacert',
      join(folder, 'ca.pem'),
      '--resolve',
      `first.test:${port}:127.0.0.1`,
      url,
    ]);
    expect(stdout).to.equal('served');
  });
});
