// Passwords and keys in files of other programs: neither resources nor reports have them.
import { expect } from 'chai';
import { importFiles } from '../../../../src/command-line/import/importers.ts';
import type { Program } from '../../../../src/command-line/import/programs.ts';
import { reportLines, rowsOf } from '../../../../src/command-line/import/report-text.ts';

const files: readonly (readonly [program: Program, text: string])[] = [
  [
    'kong',
    `_format_version: "3.0"
services: [{ name: s, url: "http://a.test", routes: [{ name: r, paths: [/] }] }]
plugins: [{ name: rate-limiting, config: { minute: 5, policy: redis, redis: { password: hidden-word } } }]
certificates: [{ cert: shown, key: hidden-word }]
consumers:
  - username: u
    keyauth_credentials: [{ key: hidden-word }]
    basicauth_credentials: [{ username: b, password: hidden-word }]
    jwt_secrets: [{ key: issuer, secret: hidden-word }]
    oauth2_credentials: [{ client_secret: [hidden-word] }]
`,
  ],
  [
    'haproxy',
    `userlist people
    user ann insecure-password hidden-word
frontend web
    mode http
    bind :8081
    stats auth admin:hidden-word
    http-request set-header Authorization hidden-word
    http-request set-header X-Api-Key hidden-word if TRUE
    http-request deny unless { hdr(x-token) -m str hidden-word }
    default_backend shop
backend shop
    server one 10.0.0.1:80
`,
  ],
  [
    'nginx',
    `server {
    listen 8081;
    location / {
        if ($http_x_key != "hidden-word") { return 403; }
        proxy_set_header Authorization hidden-word;
        proxy_pass http://ann:hidden-word@10.0.0.1;
    }
}`,
  ],
  [
    'caddy',
    JSON.stringify({
      handler: 'reverse_proxy',
      headers: { request: { set: { Authorization: ['hidden-word'] } } },
      upstreams: [{ dial: '10.0.0.1:80' }],
    }).replace(
      /.*/s,
      (handler) => `{"apps":{"http":{"servers":{"s":{"listen":[":8081"],"routes":[{"handle":[${handler}]}]}}}}}`,
    ),
  ],
  [
    'ingress-nginx',
    `apiVersion: v1
kind: List
items:
  - kind: Secret
    metadata: { name: shown, annotations: { kubectl.kubernetes.io/last-applied-configuration: '{"data":"hidden-word"}' } }
    data: { tls.crt: hidden-word, tls.key: hidden-word, auth: hidden-word }
    stringData: { name: hidden-word }
`,
  ],
  [
    'traefik',
    `http:
  routers: { a: { rule: "Path(\`/\`)", service: s, middlewares: [b] } }
  middlewares: { b: { basicAuth: { users: ["ann:hidden-word"] } } }
  services: { s: { loadBalancer: { servers: [{ url: "http://10.0.0.1" }] } } }
`,
  ],
];

describe('secrets in imported files', () => {
  for (const [program, text] of files) {
    it(`of ${program} are in no report, and keys and passwords in no resource`, async () => {
      const { report, resources } = await importFiles(program, [{ name: 'file', text }]);
      const shown = JSON.stringify(rowsOf(report)) + reportLines(report).join('\n');
      expect(shown).to.contain('***').and.not.contain('hidden-word');
      const consumers = resources.filter(({ kind }) => kind !== 'routes' && kind !== 'middlewares');
      expect(JSON.stringify(consumers.map(({ fields }) => fields))).to.not.contain('hidden-word');
    });
  }

  it('are hashes that consumers have', async () => {
    const { resources } = await importFiles('kong', [{ name: 'file', text: files[0]?.[1] ?? '' }]);
    const consumer = resources.find(({ kind }) => kind === 'consumers');
    const [key] = (consumer?.fields.credentials ?? []) as readonly { readonly key?: string }[];
    expect(key?.key).to.match(/^sha256:[0-9a-f]{64}$/);
  });
});
