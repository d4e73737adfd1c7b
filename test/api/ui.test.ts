// Files of the dashboard as the API serves them (contract.md §3.9). What the pages do is tested in test/process/dashboard.
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import { bundleUi, writeUi } from '../../scripts/ui.mjs';
import { acceptsBrotli } from '../../src/api/brotli.ts';
import { uiPages } from '../../src/api/ui.controller.ts';
import { pages } from '../../ui/lib/pages.ts';
import { ApiServer } from '../support/api-server.ts';

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'; " +
  "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'";

describe('the dashboard', () => {
  let api: ApiServer;

  before(async () => {
    if (!existsSync('dist/ui/ui.json')) await writeUi(process.cwd(), 'dist/ui');
    const apiKeys = [{ name: 'ops', key: 'k'.repeat(20), role: 'admin' as const }];
    api = await ApiServer.start({ options: { apiKeys } });
  });
  after(() => api.stop());

  function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
    return new Promise((resolve, reject) => {
      request(`${api.base}${path}`, { method, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        );
      })
        .on('error', reject)
        .end();
    });
  }

  /** Names of the assets that the document asks for. */
  const assetsOf = (document: Buffer): string[] =>
    [...document.toString('utf8').matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name = '']) => name);

  it('answers the same document for every page without a key, under its policy', async () => {
    const { body } = await get('/ui/');
    for (const slug of uiPages) {
      const answer = await get(`/ui/${slug}`);
      expect(answer.status, slug).to.equal(200);
      expect(answer.body.equals(body), slug).to.equal(true);
      expect(answer.headers).to.include({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
    }
  });

  it('has an address for each page of the navigation', () => {
    expect(uiPages).to.deep.equal(['', ...pages.map(({ slug }) => slug)]);
  });

  it('leads there from the root and from the path without a slash, relative to where it is asked', async () => {
    expect((await get('/')).headers.location).to.equal('./ui/');
    expect(await get('/')).to.include({ status: 302 });
    expect((await get('/ui')).headers.location).to.equal('./ui/');
  });

  it('serves assets that never change, as brotli where the client takes it', async () => {
    const assets = assetsOf((await get('/ui/')).body);
    expect(assets).to.have.length(3);
    for (const asset of assets) {
      expect(asset).to.match(/^[\w-]+-[A-Z0-9]{8}\.(js|css|svg)$/);
      const plain = await get(`/ui/${asset}`);
      const compressed = await get(`/ui/${asset}`, { 'accept-encoding': 'gzip, br' });
      expect(plain.headers['cache-control']).to.equal('public, max-age=31536000, immutable');
      expect(plain.headers).to.include({ vary: 'Accept-Encoding' });
      expect(plain.headers['content-encoding']).to.equal(undefined);
      expect(compressed.headers['content-encoding']).to.equal('br');
      expect(brotliDecompressSync(compressed.body).equals(plain.body)).to.equal(true);
    }
  });

  it('has nothing inline, and no other place', async () => {
    const document = (await get('/ui/')).body.toString('utf8');
    expect(document).not.to.match(/<style|style=|<script(?![^>]*src=)|\son\w+=|https?:\/\//);
  });

  it('answers 404 for other names, and needs a key for every method that is no read', async () => {
    for (const path of ['/ui/nothing', '/ui/index.html', '/ui/ui.json', '/ui/..%2fpackage.json', '/ui/routes/'])
      expect(await get(path), path).to.include({ status: 404 });
    expect(await get('/ui/', {}, 'POST')).to.include({ status: 401 });
    expect(await get('/ui/', {}, 'HEAD')).to.include({ status: 200 });
  });

  it('compresses by the weights of Accept-Encoding', () => {
    for (const header of ['br', 'gzip, br;q=0.5', '*', 'BR']) expect(acceptsBrotli(header), header).to.equal(true);
    for (const header of [undefined, '', 'gzip', 'br;q=0', '*;q=0', 'br;q=0, *'])
      expect(acceptsBrotli(header), header).to.equal(false);
  });

  it('stays within 150 KB at brotli, all files together', async () => {
    const { files } = await bundleUi(process.cwd());
    const bytes = Object.entries(files)
      .filter(([name]) => name.endsWith('.br'))
      .reduce((sum, [, { length }]) => sum + length, 0);
    expect(bytes).to.be.below(150 * 1024);
  });
});
