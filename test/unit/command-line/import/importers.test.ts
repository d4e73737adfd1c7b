import { basename } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments, stringify } from 'yaml';
import { Ledger } from '../../../../src/command-line/import/import-ledger.ts';
import { type ImportResult, importFiles } from '../../../../src/command-line/import/importers.ts';
import { type Program, programs } from '../../../../src/command-line/import/programs.ts';
import { rowsOf } from '../../../../src/command-line/import/report-text.ts';
import { listsOf } from '../../../../src/command-line/import/resource-lists.ts';
import type { Fault } from '../../../../src/command-line/input/fault.ts';
import { readEntities } from '../../../../src/command-line/input/input-entities.ts';
import { noVariables } from '../../../../src/command-line/input/variables.ts';
import { checkOffline } from '../../../../src/command-line/offline/offline-check.ts';
import { readCases, runCases } from '../../../../src/command-line/offline/route-cases.ts';
import { importPaths, readImport } from '../../../support/imports.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Places of all directives of a text, found without the importer's own parsers: `line name`. */
const placesIn: Readonly<Record<Program, (text: string) => string[]>> = {
  'ingress-nginx': yamlPlaces,
  kong: yamlPlaces,
  caddy: yamlPlaces,
  nginx: nginxPlaces,
  traefik: yamlPlaces,
  haproxy: haproxyPlaces,
};

/** Lines and names of all directives: words that stand first, or behind `;`, `{` or `}`, outside of quotes and comments. */
function nginxPlaces(text: string): string[] {
  const found: string[] = [];
  let begins = true;
  for (const [at, line] of text.split('\n').entries())
    for (const [token] of line.matchAll(/#.*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[;{}]|[^\s;{}]+/g)) {
      if (token.startsWith('#')) continue;
      if (/^[;{}]$/.test(token)) begins = true;
      else if (begins) {
        found.push(`${at + 1} ${token.replace(/^(["'])(.*)\1$/, '$2')}`);
        begins = false;
      }
    }
  return found;
}

/** Lines and first words of all lines that are not empty. */
function haproxyPlaces(text: string): string[] {
  return text.split('\n').flatMap((line, at) => {
    const word = /^\s*([^\s#]+)/.exec(line)?.[1];
    return word === undefined ? [] : [`${at + 1} ${word}`];
  });
}

/** Names of all scalars and empty values, as paths. */
function yamlPlaces(text: string): string[] {
  const documents = parseAllDocuments(text);
  return (Array.isArray(documents) ? documents : []).flatMap((document) => leaves(document.toJS(), ''));
}

function leaves(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return path === '' ? [] : [path];
  return Object.entries(value).flatMap(([key, each]) =>
    leaves(each, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`),
  );
}

for (const program of programs)
  describe(`the importer of ${program}`, () => {
    const paths = importPaths(program);
    const results = new Map<string, ImportResult>();

    before(async () => {
      for (const path of paths) results.set(path, await importFiles(program, [readImport(path)]));
    });

    it('is tested with twenty files', () => expect(paths.length).to.be.at.least(20));

    for (const path of paths) {
      const result = (): ImportResult => results.get(path) as ImportResult;

      it(`lists every directive of ${basename(path)} in its report, with its place`, () => {
        const { name, text } = readImport(path);
        const reported = result().report.filter(({ statement }) => statement.isListed);
        const shown = reported.map(({ statement }) => placeOf(program, statement));
        expect(shown.toSorted()).to.deep.equal(placesIn[program](text).toSorted());
        const lines = text.split('\n');
        for (const { statement, outcome, why } of reported) {
          expect(statement.place.file).to.equal(name);
          expect(bare(lines[statement.place.line - 1])).to.contain(bare(lastWord(statement)));
          if (outcome !== 'taken') expect(why, statement.name).to.be.a('string').and.not.be.empty;
        }
      });

      it(`makes resources of ${basename(path)} that validate takes, and cases that test passes`, async () => {
        const files = [{ name: 'resources.yaml', text: stringify(listsOf(result())) }];
        const { faults, configuration } = await checkOffline(readEntities(files, noVariables), undefined, Date.now());
        expect(faults).to.deep.equal([]);
        const found: Fault[] = [];
        const cases = readCases({ name: 'cases.yaml', text: stringify({ cases: result().cases }) }, noVariables, found);
        expect(found).to.deep.equal([]);
        const routes = configuration.routes.map(({ name }) => name);
        const tested = cases.map(({ expect: wanted }) => wanted.route);
        const excused = routes.filter((name) =>
          result().notes.some((note) => note.includes(`no case for route ${name}:`)),
        );
        expect([...tested, ...excused].toSorted()).to.deep.equal(routes.toSorted());
        for (const { name, differences } of await runCases(cases, configuration))
          expect(differences, name).to.deep.equal([]);
      });
    }

    it('says for every directive that is not taken why, and rows carry file and line', () => {
      for (const { report } of results.values())
        for (const row of rowsOf(report)) {
          expect(row.line).to.be.at.least(1);
          expect(row.outcome === 'taken' || row.why !== undefined, row.directive).to.equal(true);
        }
    });
  });

/** Text without backslashes, which a quoted text doubles. */
const bare = (text = ''): string => text.replaceAll('\\', '');

type Statement = ImportResult['report'][number]['statement'];

/** Text that stands on the line of a statement: its key, or its value within a list. */
function lastWord({ key, words }: Statement): string {
  return /^\d+$/.test(key) ? ((words[0] ?? '').split('\n')[0] ?? '') : key;
}

const placeOf = (program: Program, { name, place }: Statement): string =>
  program === 'nginx' || program === 'haproxy' ? `${place.line} ${name}` : name;

const kongWith = (plugins: string): string => `services:
  - name: a
    url: http://a.internal
    routes:
      - { name: a, paths: [/a], plugins: ${plugins} }
`;

describe('what an import does not take', () => {
  it('closes the routes that it guarded', async () => {
    const guarded = await importFiles('kong', [
      { name: 'kong.yaml', text: kongWith('[{ name: openid-connect, config: { issuer: "https://login.example" } }]') },
    ]);
    const middleware = guarded.resources.find(({ kind }) => kind === 'middlewares');
    expect(middleware?.fields.inlineAuthz).to.deep.include({ defaultAction: 'deny' });
    const route = guarded.resources.find(({ kind }) => kind === 'routes');
    expect(route?.fields.middlewareIds).to.deep.equal([middleware?.name]);
  });

  it('closes a location of nginx whose guard has no counterpart', async () => {
    const text =
      'server { listen 80; location / { auth_jwt "x"; proxy_pass http://10.0.0.1; } location /a { return 200; } }';
    const { resources } = await importFiles('nginx', [{ name: 'a.conf', text }]);
    const guards = resources.filter(({ kind, fields }) => kind === 'middlewares' && fields.type === 'inlineAuthz');
    expect(guards).to.have.length(1);
    const closed = resources.filter(
      ({ fields }) => JSON.stringify(fields.middlewareIds) === JSON.stringify([guards[0]?.name]),
    );
    expect(closed.map(({ fields }) => fields.match)).to.deep.equal([{ pathPrefix: '/' }]);
  });

  it('closes the routes of HAProxy behind a guard whose condition has no counterpart', async () => {
    const text = `frontend web
  mode http
  bind :80
  http-request return status 200 if { path /free }
  http-request deny unless { lua.knows(token) -m found }
  use_backend shop if { path_beg /shop }
  default_backend shop
backend shop
  mode http
  server a 10.0.0.1:80
`;
    const { resources } = await importFiles('haproxy', [{ name: 'a.cfg', text }]);
    const [guard, ...others] = resources.filter(({ kind }) => kind === 'middlewares');
    expect(others).to.deep.equal([]);
    expect(guard?.fields.inlineAuthz).to.deep.include({ defaultAction: 'deny' });
    const routes = resources.filter(({ kind }) => kind === 'routes').map(({ fields }) => fields);
    expect(routes.map(({ middlewareIds }) => middlewareIds)).to.deep.equal([undefined, [guard?.name], [guard?.name]]);
  });

  it('closes a frontend of HAProxy for users whose list is not there, and connections that a rule refuses', async () => {
    const text = `frontend web
  mode http
  bind :80
  http-request auth unless { http_auth(absent) }
  default_backend shop
backend shop
  mode http
  server a 10.0.0.1:80
listen tcp
  mode tcp
  bind :81
  tcp-request connection reject unless { src 10.0.0.0/8 }
  server a 10.0.0.1:80
`;
    const { resources } = await importFiles('haproxy', [{ name: 'a.cfg', text }]);
    expect(resources.filter(({ fields }) => fields.type === 'inlineAuthz')).to.have.length(1);
    expect(resources.filter(({ kind }) => kind === 'routes')[0]?.fields.middlewareIds).to.have.length(1);
    expect(resources.filter(({ kind }) => kind === 'streamRoutes')).to.deep.equal([]);
  });

  it('does not hold a rule of HAProxy against what an allow before it has let through', async () => {
    const text = `frontend web
  mode http
  bind :80
  http-request allow if { src 10.0.0.0/8 }
  http-request deny if { path_beg /admin }
  default_backend shop
backend shop
  mode http
  server a 10.0.0.1:80
`;
    const { resources } = await importFiles('haproxy', [{ name: 'a.cfg', text }]);
    const denied = resources.find(({ fields }) => fields.directResponse !== undefined);
    expect(denied?.fields.match).to.deep.equal({
      pathRegex: '/admin',
      cel: '!(cidr("10.0.0.0/8").containsIP(request.clientIp))',
    });
  });

  it('closes a route whose middleware the model refuses', async () => {
    const refused = await importFiles('kong', [
      { name: 'kong.yaml', text: kongWith('[{ name: cors, config: { origins: ["(?=x)"] } }]') },
    ]);
    expect(refused.resources.map(({ kind }) => kind)).to.not.include('middlewares');
    const route = refused.resources.find(({ kind }) => kind === 'routes');
    expect(route?.fields.directResponse).to.deep.equal({ status: 503 });
    expect(route?.fields).to.not.have.property('forward');
    const told = refused.report.filter(({ outcome }) => outcome === 'not taken');
    expect(told.map(({ why }) => why).join()).to.contain('is refused: /cors/allowOrigins/0/value');
  });

  it('takes one of several names of keys of Kong, and none of a group that it does not know', async () => {
    const plugins = '[{ name: key-auth, config: { key_names: [a, b] } }, { name: acl, config: { deny: [bad] } }]';
    const { resources, report } = await importFiles('kong', [{ name: 'kong.yaml', text: kongWith(plugins) }]);
    const blocks = resources.filter(({ kind }) => kind === 'middlewares').map(({ fields }) => fields);
    expect(blocks[0]?.apiKey).to.deep.include({ sources: { header: 'a', query: 'a' }, forwardKey: true });
    expect(blocks[1]?.inlineAuthz).to.deep.equal({
      rules: [
        { cel: 'has(consumer.name) && ("acl.bad" in consumer.labels)', action: 'deny' },
        { cel: 'has(consumer.name)', action: 'allow' },
      ],
      defaultAction: 'deny',
    });
    expect(report.filter(({ outcome }) => outcome === 'not taken').map(({ why }) => why)).to.include(
      'keys are read under the first name',
    );
  });

  it("takes those of a consumer's many groups of Kong that plugins ask for", async () => {
    const consumer = (count: number): string =>
      `consumers:\n  - username: many\n    acls:\n${Array.from({ length: count }, (_, n) => `      - group: g${n}\n`).join('')}`;
    const labelsOf = async (count: number, config: string) => {
      const text = kongWith(`[{ name: acl, config: ${config} }]`) + consumer(count);
      const { resources, report } = await importFiles('kong', [{ name: 'kong.yaml', text }]);
      const [many] = resources.filter(({ kind }) => kind === 'consumers');
      return { labels: Object.keys(Object(many?.fields.labels)), reasons: report.map(({ why }) => why) };
    };
    expect((await labelsOf(32, '{ deny: [g7] }')).labels).to.have.length(32);
    const some = await labelsOf(40, '{ allow: [g1, g39, stranger], deny: [g7] }');
    expect(some.labels).to.have.members(['acl.g1', 'acl.g7', 'acl.g39']);
    expect(some.reasons.filter((why) => why === 'no plugin asks for it')).to.have.length(37);
    const all = `{ deny: [${Array.from({ length: 40 }, (_, n) => `g${n}`).join(', ')}] }`;
    const none = await labelsOf(40, all);
    expect(none.labels).to.deep.equal([]);
    expect(none.reasons.join()).to.contain('is refused: /labels');
  });

  const kongLimit = '[{ name: request-size-limiting, config: { allowed_payload_size: 3, size_unit: kilobytes } }]';
  const limits: readonly (readonly [string, Program, string, readonly (number | undefined)[]])[] = [
    ['a plugin of Kong', 'kong', kongWith(kongLimit), [3072]],
    ['a plugin of Kong without fields', 'kong', kongWith('[{ name: request-size-limiting }]'), [134_217_728]],
    [
      'a directive of nginx, around it and without one',
      'nginx',
      'server { location /a { client_max_body_size 2G; proxy_pass http://b; } location / { proxy_pass http://b; } }',
      [2 ** 31, undefined],
    ],
    [
      'a directive of nginx that is no size',
      'nginx',
      'server { client_max_body_size $a; location / { proxy_pass http://b; } }',
      [undefined],
    ],
    [
      'the narrower of two rules of HAProxy',
      'haproxy',
      'frontend w\n mode http\n bind :80\n http-request deny if { req.body_size gt 90 }\n http-request deny if { hdr_val(content-length) ge 80 }\n default_backend a\nbackend a\n mode http\n server a 10.0.0.1:80\n',
      [79],
    ],
    [
      'the narrower of two handlers of Caddy',
      'caddy',
      '{"apps":{"http":{"servers":{"s":{"listen":[":80"],"routes":[{"handle":[{"handler":"request_body","max_size":7},{"handler":"request_body","max_size":9},{"handler":"reverse_proxy","upstreams":[{"dial":"a:1"}]}]}]}}}}}',
      [7],
    ],
  ];
  for (const [title, program, text, expected] of limits)
    it(`limits bodies of requests as ${title} does`, async () => {
      const { resources } = await importFiles(program, [{ name: 'a', text }]);
      const forwarding = resources.filter(({ kind, fields }) => kind === 'routes' && fields.forward !== undefined);
      expect(forwarding.map(({ fields }) => fields.maxRequestBodyBytes)).to.deep.equal(expected);
    });

  it('has the limit of nginx for bodies on listeners whose file names none', async () => {
    const ingress =
      'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: { name: a }\nspec: { rules: [{ host: a.example, http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: a, port: { number: 80 } } } }] } }] }\n';
    for (const [program, text] of [
      ['nginx', 'server { location / { proxy_pass http://b; } }'],
      ['ingress-nginx', ingress],
    ] as const) {
      const { resources } = await importFiles(program, [{ name: 'a', text }]);
      const [listener] = resources.filter(({ kind }) => kind === 'listeners');
      expect(listener?.fields.maxRequestBodyBytes, program).to.equal(1_048_576);
    }
  });

  it('compresses, and reads heads of balancers, where the ConfigMap of ingress-nginx says so', async () => {
    const path = importPaths('ingress-nginx').find((each) => basename(each) === 'sizes.yaml') as string;
    const { resources } = await importFiles('ingress-nginx', [readImport(path)]);
    const listener = resources.find(({ kind }) => kind === 'listeners')?.fields;
    expect(listener).to.include({ proxyProtocol: 'required' });
    expect(listener?.trustedProxies).to.deep.equal(['10.0.0.0/8', 'fd00::/8']);
    const compress = resources.filter(({ fields }) => fields.type === 'compress');
    expect(compress.map(({ fields }) => fields.compress)).to.deep.equal([
      {
        algorithms: ['br', 'gzip'],
        minBytes: 256,
        types: ['text/html', 'text/plain', 'application/json'],
        levels: { gzip: 5, br: 4 },
      },
    ]);
  });

  it('takes limits, probes and buffers of HAProxy and Traefik where Sluice has them', async () => {
    const imported = async (program: Program) => {
      const path = importPaths(program).find((each) => /^sizes/.test(basename(each))) as string;
      return (await importFiles(program, [readImport(path)])).resources;
    };
    const [listener, monitor] = await imported('haproxy');
    expect(listener?.fields.maxConnections).to.equal(5000);
    expect(monitor?.fields.match).to.deep.include({ path: '/alive' });
    expect(monitor?.fields.directResponse).to.deep.include({ status: 200 });
    const routes = (await imported('traefik')).filter(({ kind }) => kind === 'routes');
    expect(routes.map(({ fields }) => fields.maxRequestBodyBytes)).to.deep.equal([1_000_000, undefined]);
  });

  it('keeps clients by signed cookies where a program keeps them by its own', async () => {
    const kept = async (program: Program, name: string) => {
      const path = importPaths(program).find((each) => basename(each).startsWith(name)) as string;
      const { resources } = await importFiles(program, [readImport(path)]);
      const options = resources.map(
        ({ fields }) => (fields.options as Fields | undefined)?.endpointBalancing as Fields,
      );
      return options.flatMap((each) => (each?.algorithm === 'STICKY' ? [(each.sticky as Fields).cookie] : []));
    };
    expect(await kept('traefik', 'sticky')).to.deep.equal([{ name: 's', ttl: '0s', signed: true }]);
    expect(await kept('ingress-nginx', 'sticky')).to.deep.equal([{ name: 'GAME', ttl: '3600s', signed: true }]);
    expect(await kept('haproxy', 'balance')).to.deep.equal([{ name: 'SRV', ttl: '0s', signed: true }]);
  });

  it('keeps clients of HAProxy where a server has a value of the cookie, for as many seconds as it says', async () => {
    const balanced = async (cookie: string, server: string) => {
      const text = `defaults
  mode http
  cookie SRV insert ${cookie}
frontend web
  bind :80
  default_backend shop
backend shop
  server a 10.0.0.1:80 ${server}
`;
      const { resources, report } = await importFiles('haproxy', [{ name: 'a.cfg', text }]);
      const balancing = resources.flatMap(({ fields: { options } }) => (options as Fields)?.endpointBalancing ?? []);
      const told = report.find(({ statement: { key } }) => key === 'cookie');
      return [balancing.map((each) => ((each as Fields).sticky as Fields)?.cookie), told?.outcome];
    };
    const kept = (ttl: string) => [[{ name: 'SRV', ttl, signed: true }], 'approximated'];
    expect(await balanced('maxlife 3600', 'cookie a')).to.deep.equal(kept('3600000ms'));
    expect(await balanced('maxlife 8h', 'cookie a')).to.deep.equal(kept('28800000ms'));
    expect(await balanced('dynamic', '')).to.deep.equal(kept('0s'));
    expect(await balanced('maxlife 3600', '')).to.deep.equal([[], 'approximated']);
  });

  it('limits rates as tables of HAProxy do, and tells of those that it cannot', async () => {
    const text = `frontend web
  mode http
  bind :80
  http-request track-sc0 src table limits
  http-request track-sc1 req.hdr(X-Tenant)
  http-request track-sc2 path
  stick-table type string size 10k expire 1m store gpc0,http_req_rate(1m)
  acl busy sc1_http_req_rate ge 51
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt 20 }
  http-request deny if busy
  http-request deny if { sc_http_req_rate(2) gt 5 }
  http-request deny if { src_http_req_rate(limits) gt 9 } { path_beg /login }
  default_backend shop
backend limits
  stick-table type ip size 100k expire 30s store http_req_rate(10s)
backend idle
  stick-table type ip size 1k store conn_cur
backend shop
  mode http
  server a 10.0.0.1:80
`;
    const { resources, report } = await importFiles('haproxy', [{ name: 'a.cfg', text }]);
    const limiters = resources.filter(({ kind }) => kind === 'middlewares').map(({ fields }) => fields.rateLimit);
    expect(limiters).to.deep.equal([
      { limits: [{ requests: 20, per: '10s' }] },
      { limits: [{ requests: 50, per: '60s' }], key: 'request.headers["x-tenant"]' },
    ]);
    const lines = report.filter(({ outcome }) => outcome === 'not taken').map(({ statement: { place } }) => place.line);
    expect([...new Set(lines)].toSorted((a, b) => a - b)).to.deep.equal([6, 11, 12, 16, 17]);
  });

  it('tells of limits of bodies of HAProxy that depend on something else', async () => {
    const text = `frontend web
  mode http
  bind :80
  acl large req.body_size gt 10
  acl large req.body_size gt 20
  http-request deny if { req.body_size gt 10 } { path /a }
  http-request deny if large
  default_backend shop
backend shop
  mode http
  server a 10.0.0.1:80
`;
    const { resources, report } = await importFiles('haproxy', [{ name: 'a.cfg', text }]);
    expect(resources.find(({ kind }) => kind === 'routes')?.fields).to.not.have.property('maxRequestBodyBytes');
    const told = report.filter(({ outcome }) => outcome === 'not taken').map(({ statement: { place } }) => place.line);
    expect(told).to.include.members([6, 7]);
  });

  it('keeps what the worst of several marks says', () => {
    const ledger = new Ledger();
    const place = { file: 'a', line: 1, column: 1 };
    const child = { name: 'b', key: 'b', words: ['1'], children: [], place, isListed: true };
    const root = { name: 'a', key: 'a', words: [], children: [child], place, isListed: false };
    expect(ledger.report([root])[0]).to.include({ outcome: 'not taken', why: 'is not known to this importer' });
    ledger.approximated(root, 'roughly');
    expect(ledger.report([root]).map(({ outcome }) => outcome)).to.deep.equal(['approximated', 'approximated']);
    ledger.notTaken(child, 'never');
    ledger.taken(child);
    expect(ledger.report([root]).map(({ why }) => why)).to.deep.equal(['roughly', 'never']);
  });
});
