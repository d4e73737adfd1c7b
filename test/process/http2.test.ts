// HTTP/2 as it is in use: programs that others wrote, whole processes, and a shutdown in the middle of everything.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { Http2Client } from '../support/http2-client.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { needs } from '../support/needs.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const run = promisify(execFile);
const { cert, key } = makeCertificate({ dnsNames: ['sluice.test'] });

describe('HTTP/2 through the proxy', () => {
  let upstream: Upstream;
  let sluice: SluiceProcess;
  let plain: number;
  let secure: number;

  before(async () => {
    upstream = await startUpstream('backend', (request, response) => {
      if (request.url === '/early') response.end('early');
      else request.pipe(response);
    });
    sluice = await startSluice();
    const api = apiClient(sluice.url);
    plain = await freePort();
    secure = await freePort();
    const about = { address: '127.0.0.1', http2: true };
    await api.create('listeners', { ...about, name: 'plain', port: plain });
    await api.create('listeners', { ...about, name: 'secure', port: secure, tls: { cert, key } });
    await api.create('destinations', { id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port });
    // The same proxy once more, spoken to in HTTP/2.
    await api.create('destinations', {
      id: 'h2',
      name: 'h2',
      host: '127.0.0.1',
      port: plain,
      options: { http2: true },
    });
    await api.create('destinations', {
      ...{ id: 'h2s', name: 'h2s', host: '127.0.0.1', port: secure },
      options: { http2: true, tls: { mode: 'tls', ca: cert, sni: 'sluice.test' } },
    });
    const rewrite = { path: '/' };
    const to = (destinationId: string) => ({ destinations: [{ destinationId }], rewrite });
    await api.create('routes', { name: 'again', match: { pathPrefix: '/again' }, forward: to('h2') });
    await api.create('routes', { name: 'secured', match: { pathPrefix: '/secured' }, forward: to('h2s') });
    await api.create('routes', {
      name: 'own',
      match: { path: '/own' },
      directResponse: { status: 200, body: 'hello' },
    });
    await api.create('routes', {
      name: 'refused',
      match: { path: '/refused' },
      directResponse: { status: 413, body: 'no' },
    });
    await api.create('routes', { name: 'all', forward: { destinations: [{ destinationId: 'd' }] } });
    await api.activateAs('v1');
  });

  after(async () => {
    await sluice.stop();
    await upstream.close();
  });

  const curl = async (...args: readonly string[]): Promise<string> =>
    (await run('curl', ['-sS', '--max-time', '20', ...args], { encoding: 'utf8' })).stdout;

  it('serves curl in every pair of versions', async function () {
    needs(this, 'curl');
    const version = ['-w', ' %{http_version}', '-d', 'hello'];
    const byName = ['--resolve', `sluice.test:${secure}:127.0.0.1`, '-k'];
    for (const path of ['/', '/again/', '/secured/', '/again/secured/again/']) {
      expect(await curl(...version, '--http2-prior-knowledge', `http://127.0.0.1:${plain}${path}`)).to.equal('hello 2');
      expect(await curl(...version, '--http1.1', `http://127.0.0.1:${plain}${path}`)).to.equal('hello 1.1');
      expect(await curl(...version, ...byName, `https://sluice.test:${secure}${path}`)).to.equal('hello 2');
      expect(await curl(...version, ...byName, '--http1.1', `https://sluice.test:${secure}${path}`)).to.equal(
        'hello 1.1',
      );
    }
  });

  it('gives curl in the middle of an upload the answer that refuses it', async function () {
    needs(this, 'curl', 'sh');
    const upload = async (url: string, ...more: string[]) => {
      const args = ['-sS', '--max-time', '20', '-T', '-', '-H', 'Expect:', '-w', ' %{http_code}', ...more, url];
      const { stdout } = await run('sh', ['-c', 'head -c 10000000 /dev/zero | curl "$@"', 'sh', ...args]);
      return stdout;
    };
    expect(await upload(`http://127.0.0.1:${plain}/refused`, '--http2-prior-knowledge')).to.equal('no 413');
    expect(await upload(`https://127.0.0.1:${secure}/refused`, '-k', '--http2')).to.equal('no 413');
  });

  it('gives curl an early answer, success or not, and lets it end at once', async function () {
    needs(this, 'curl');
    const directory = await mkdtemp(join(tmpdir(), 'early-'));
    const body = join(directory, 'body');
    try {
      for (const bytes of [100_000, 200_000, 300_000, 3_000_000]) {
        await writeFile(body, Buffer.alloc(bytes));
        for (const [path, answer] of [
          ['/refused', 'no 413'],
          ['/own', 'hello 200'],
          ['/early', 'early 200'],
        ] as const) {
          const upload = ['-H', 'Expect:', '-w', ' %{http_code}', '--data-binary', `@${body}`, '--max-time', '10'];
          for (let at = 0; at < 4; at++) {
            expect(await curl(...upload, '--http2-prior-knowledge', `http://127.0.0.1:${plain}${path}`)).to.equal(
              answer,
            );
            expect(await curl(...upload, '-k', '--http2', `https://127.0.0.1:${secure}${path}`)).to.equal(answer);
          }
        }
      }
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('serves nghttp2’s clients', async function () {
    needs(this, 'nghttp', 'h2load');
    const { stdout } = await run('h2load', ['-n', '2000', '-c', '8', '-m', '32', `http://127.0.0.1:${plain}/again/`]);
    expect(stdout).to.include('2000 succeeded, 0 failed');
    const { stdout: secured } = await run('h2load', [
      '-n',
      '2000',
      '-c',
      '8',
      '-m',
      '32',
      `https://127.0.0.1:${secure}/`,
    ]);
    expect(secured).to.include('2000 succeeded, 0 failed');
    const { stdout: verbose } = await run('nghttp', ['-v', '--no-dep', `http://127.0.0.1:${plain}/`]);
    expect(verbose).to.include(':status: 200');
  });

  it('passes h2spec', async function () {
    const installed = join(homedir(), 'go/bin/h2spec');
    const h2spec = existsSync(installed) ? installed : 'h2spec';
    if (h2spec !== installed) needs(this, 'h2spec');
    const summary = async (...args: string[]): Promise<string> => {
      const { stdout } = await run(h2spec, ['-h', '127.0.0.1', '-P', '/own', '-o', '5', ...args]).catch(
        (error) => error,
      );
      return String(stdout).match(/\d+ tests, .*/)?.[0] ?? '';
    };
    expect(await summary('-p', String(secure), '-t', '-k')).to.equal('145 tests, 145 passed, 0 skipped, 0 failed');
    expect(await summary('-p', String(secure), '-t', '-k', '-S')).to.equal(
      '146 tests, 146 passed, 0 skipped, 0 failed',
    );
    // In cleartext an invalid preface is a bad request of HTTP/1.1.
    expect(await summary('-p', String(plain))).to.equal('145 tests, 144 passed, 0 skipped, 1 failed');
    expect(await summary('-p', String(plain), '-S')).to.equal('146 tests, 145 passed, 0 skipped, 1 failed');
  });

  it('loses no request at SIGTERM', async () => {
    const clients = Array.from({ length: 4 }, () => new Http2Client(`http://127.0.0.1:${plain}`));
    let stopping = false;
    let served = 0;
    const failed: string[] = [];
    const visit = async (client: Http2Client): Promise<void> => {
      while (!client.closed && !client.session.closed) {
        const { status, body, code } = await client.ask({ ':method': 'POST', ':path': '/' }, 'x');
        if (status === 200 && body === 'x') served++;
        // What comes behind the last GOAWAY is refused, and may be asked again elsewhere.
        else if (!stopping || (code !== 7 && status !== 0)) failed.push(`${status} ${code} ${body}`);
        if (stopping && client.goAways.length > 0) return;
      }
    };
    const visits = clients.flatMap((client) => [visit(client), visit(client), visit(client)]);
    await eventually(() => expect(served).to.be.greaterThan(200));
    stopping = true;
    const stopped = sluice.stop();
    await Promise.all(visits);
    expect(failed).to.deep.equal([]);
    for (const { goAways } of clients) expect(goAways.length).to.be.greaterThan(0);
    for (const client of clients) client.close();
    await stopped;
  });
});
