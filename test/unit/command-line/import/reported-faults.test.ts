// Parts of a configuration that get lost on the way without a word, as users of other importers reported.
import { join } from 'node:path';
import { expect } from 'chai';
import { importFiles } from '../../../../src/command-line/import/importers.ts';
import type { Program } from '../../../../src/command-line/import/programs.ts';
import { rowsOf } from '../../../../src/command-line/import/report-text.ts';
import { readImport } from '../../../support/imports.ts';

/** Fields of resources of several kinds, as far as they are looked at. */
interface Made {
  readonly match: { readonly path?: string; readonly pathRegex?: string; readonly cel?: string };
  readonly directResponse?: unknown;
  readonly forward?: { readonly destinations: unknown };
  readonly middlewareIds?: readonly string[];
  readonly headers: { readonly responseHeadersToAdd: readonly { readonly key: string }[] };
  readonly options: {
    readonly http2?: boolean;
    readonly timeouts: { readonly responseHeader: string };
    readonly endpointBalancing?: unknown;
  };
}

const folder = join(import.meta.dirname, '../../../support/imports');

async function imported(program: Program, file: string) {
  const { resources, report } = await importFiles(program, [readImport(join(folder, program, file))]);
  const of = (kind: string, name: string): Made => {
    const found = resources.find((each) => each.kind === kind && each.name === name);
    if (found === undefined) throw new Error(`no ${kind}/${name} in ${resources.map(({ name }) => name).join()}`);
    return found.fields as unknown as Made;
  };
  return { of, rows: rowsOf(report) };
}

const caddyProxy = {
  handler: 'reverse_proxy',
  upstreams: [{ dial: '10.0.0.1:80' }],
  headers: { request: { set: { 'X-Real-IP': ['{http.request.remote.host}'] } } },
};

describe('what is imported', () => {
  it('of nginx keeps clients out of an internal location', async () => {
    const { of } = await imported('nginx', 'answers.conf');
    const { match, directResponse, forward } = of('routes', 'api.example-verify');
    expect([match.path, directResponse, forward]).to.deep.equal(['/verify', { status: 404 }, undefined]);
  });

  it('of nginx has the header fields of the block around an answer, or those of its condition', async () => {
    const { of } = await imported('nginx', 'answers.conf');
    const added = (route: string) =>
      (of('routes', route).middlewareIds ?? []).flatMap((id) =>
        of('middlewares', id).headers.responseHeadersToAdd.map(({ key }) => key),
      );
    expect(added('api.example-if-1')).to.deep.equal(['X-Frame-Options']);
    expect(added('api.example-cors-if-1')).to.deep.equal(['Access-Control-Allow-Origin', 'Access-Control-Max-Age']);
    expect(added('api.example-short-if-1')).to.deep.equal(['X-Place']);
    expect(added('gone.example')).to.deep.equal(['X-Gone']);
  });

  it('of nginx, Caddy and HAProxy sends X-Real-IP', async () => {
    const files = {
      nginx:
        'server { listen 8080; location / { proxy_set_header X-Real-IP $remote_addr; proxy_pass http://10.0.0.1; } }',
      caddy: JSON.stringify({
        apps: { http: { servers: { s: { listen: [':8080'], routes: [{ handle: [caddyProxy] }] } } } },
      }),
      haproxy:
        'frontend f\n  mode http\n  bind :8080\n  http-request set-header X-Real-IP %[src]\n  default_backend b\nbackend b\n  mode http\n  server s 10.0.0.1:80\n',
    };
    for (const [program, text] of Object.entries(files)) {
      const { resources } = await importFiles(program as Program, [{ name: 'file', text }]);
      const added = { key: 'X-Real-IP', value: '${request.clientIp}' };
      expect(JSON.stringify(resources.map(({ fields }) => fields)), program).to.contain(
        JSON.stringify(added).slice(0, -1),
      );
    }
  });

  it('of nginx refuses what a condition refuses, and all where that has no counterpart', async () => {
    const { of, rows } = await imported('nginx', 'guards.conf');
    expect(of('routes', 'api.example-debug-if-1').match.cel).to.equal(
      '"debug" in request.queryParams && request.queryParams["debug"] != "" && request.queryParams["debug"] != "0"',
    );
    const { match, directResponse } = of('routes', 'api.example-guarded-closed-1');
    expect([match.pathRegex, match.cel, directResponse]).to.deep.equal(['/guarded', undefined, { status: 403 }]);
    expect(rows.find(({ why }) => why?.includes('closed (403)'))?.directive).to.contain('$invalid_referer');
  });

  it('of Traefik speaks HTTP/2 to services of h2c, and to no others', async () => {
    const { of } = await imported('traefik', 'version-2.yaml');
    expect(of('destinations', 'fast').options.http2).to.equal(true);
    expect(of('destinations', 'plain').options.http2).to.equal(undefined);
  });

  it('of Traefik sends the host of a service that takes no other with its share alone', async () => {
    const { of } = await imported('traefik', 'version-2.yaml');
    expect(of('routes', 'tenants').forward?.destinations).to.deep.equal([
      { destinationId: 'plain', weight: 3, rewrite: { autoHost: true } },
      { destinationId: 'fast', weight: 1 },
    ]);
  });

  it('of Traefik 2 has the placeholders of rules as expressions', async () => {
    const { of } = await imported('traefik', 'version-2.yaml');
    expect(of('routes', 'users').match.pathRegex).to.equal('(?:/users/(?:[0-9]+))$');
    expect(of('routes', 'files').match.pathRegex).to.equal('(?:/files/(?:[^/]+)/|/objects/(?:[a-z]{2,5}))');
    expect(of('routes', 'tenants').match.cel)
      .to.contain('(?:[a-z]+)\\\\.app\\\\.example')
      .and.contain('(?:[^/]+)/private');
  });

  it('of ingress-nginx asks a canary as its Ingress is asked, and balances it as it says itself', async () => {
    const { of, rows } = await imported('ingress-nginx', 'canary-grpc.yaml');
    const [main, canary] = ['rpc-9000', 'rpc-next-9000'].map((name) => of('destinations', name).options);
    expect([canary?.http2, canary?.timeouts.responseHeader]).to.deep.equal([true, '600s']);
    expect([main?.http2, main?.timeouts.responseHeader]).to.deep.equal([true, '600s']);
    expect([main?.endpointBalancing, canary?.endpointBalancing]).to.deep.equal([
      undefined,
      { algorithm: 'LEAST_REQUEST' },
    ]);
    expect(rows.find(({ directive }) => directive.includes('proxy-read-timeout 5'))?.outcome).to.equal('approximated');
  });

  it('of Kong tells where a route of https has no listener of TLS', async () => {
    const text = (certificates: string) =>
      `_format_version: "3.0"\n${certificates}services:\n  - { name: s, url: "http://s.example", routes: [{ name: r, paths: [/], protocols: [https] }] }\n`;
    const outcome = async (certificates: string) => {
      const { report } = await importFiles('kong', [{ name: 'kong.yaml', text: text(certificates) }]);
      return rowsOf(report).find(({ directive }) => directive.includes('protocols'))?.outcome;
    };
    expect(await outcome('')).to.equal('approximated');
    expect(await outcome('certificates: [{ cert: c, key: k, snis: [{ name: s.example }] }]\n')).to.equal('taken');
  });
});
