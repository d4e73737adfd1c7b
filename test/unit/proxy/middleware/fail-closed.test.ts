// Every protection, broken in every way it can break: the request does not reach the upstream (architecture.md §6.16,
// §6.19). What can be seen without a request refuses the snapshot as well.
import { createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Destination } from '../../../../src/model/destination.ts';
import type { Middleware } from '../../../../src/model/middleware.ts';
import { checkConfig } from '../../../../src/proxy/config-check.ts';
import { buildOf } from '../../../../src/proxy/middleware/registry.ts';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';
import { listening } from '../../../support/proxy-bed.ts';
import { inAnHour, jwksOf, signerOf, tokenOf } from '../../../support/tokens.ts';

type Broken = Record<string, unknown> & { readonly type: string };

interface Row {
  readonly name: string;
  readonly middleware: Broken;
  readonly status: number;
  /** The snapshot is refused when it is captured. */
  readonly refused: boolean;
}

const by = signerOf('ES256');
const jwt = { issuer: 'i', jwksInline: jwksOf(by.jwk) };
const allow = { cel: 'true', action: 'allow' };

const unbuilt: readonly (readonly [string, Broken])[] = [
  ['a type that nobody knows', { type: 'magic' }],
  ['rateLimit without its block', { type: 'rateLimit' }],
  ['rateLimit with null for its block', { type: 'rateLimit', rateLimit: null }],
  ['jwt with null for its block', { type: 'jwt', jwt: null }],
  ['accessLog with null for its block', { type: 'accessLog', accessLog: null }],
  ['jwt without its block', { type: 'jwt' }],
  ['compress without its block', { type: 'compress' }],
  ['basicAuth without its block', { type: 'basicAuth' }],
  ['basicAuth with a secret that is gone', { type: 'basicAuth', basicAuth: { users: '{{secret:value:gone}}' } }],
  ['basicAuth with a password as it is', { type: 'basicAuth', basicAuth: { users: 'ann:secret' } }],
  ['basicAuth with neither users nor consumers', { type: 'basicAuth', basicAuth: {} }],
  ['apiKey without its block', { type: 'apiKey' }],
  ['apiKey without sources', { type: 'apiKey', apiKey: { sources: {} } }],
  ['inlineAuthz without its block', { type: 'inlineAuthz' }],
  ['accessLog without its block', { type: 'accessLog' }],
  ['extAuthz without its block', { type: 'extAuthz' }],
  ['extProc without its block', { type: 'extProc' }],
  [
    'extAuthz with Envoy over HTTP',
    { type: 'extAuthz', extAuthz: { destinationId: 'd', mode: 'http', protocol: 'envoy' } },
  ],
  [
    'extProc with Envoy over HTTP',
    { type: 'extProc', extProc: { destinationId: 'd', mode: 'http', protocol: 'envoy' } },
  ],
  ['jwt without an issuer', { type: 'jwt', jwt: { jwksInline: jwt.jwksInline } }],
  ['jwt with an empty issuer', { type: 'jwt', jwt: { ...jwt, issuer: '' } }],
  ['jwt without keys', { type: 'jwt', jwt: { issuer: 'i' } }],
  ['jwt with two sources of keys', { type: 'jwt', jwt: { ...jwt, jwksPath: '/', jwksDestinationId: 'k' } }],
  ['jwt with keys that are none', { type: 'jwt', jwt: { ...jwt, jwksInline: 'none' } }],
  ['jwt with a secret that is gone', { type: 'jwt', jwt: { ...jwt, jwksInline: '{{secret:value:gone}}' } }],
  ['jwt with an assertion that does not compile', { type: 'jwt', jwt: { ...jwt, assertClaims: ['claims.'] } }],
  ['jwt with an assertion that is no condition', { type: 'jwt', jwt: { ...jwt, assertClaims: ['1 + 1'] } }],
  [
    'jwt with a header expression that does not compile',
    { type: 'jwt', jwt: { ...jwt, claimToHeaders: [{ expr: '(', header: 'x' }] } },
  ],
  ['inlineAuthz without rules', { type: 'inlineAuthz', inlineAuthz: {} }],
  [
    'inlineAuthz with a rule that does not compile',
    { type: 'inlineAuthz', inlineAuthz: { rules: [{ cel: 'request.nothing', action: 'deny' }, allow] } },
  ],
  [
    'inlineAuthz with a secret that is gone',
    { type: 'inlineAuthz', inlineAuthz: { rules: [{ cel: '{{secret:env:X}}', action: 'deny' }, allow] } },
  ],
  [
    'cors with an origin that does not compile',
    { type: 'cors', cors: { allowOrigins: [{ value: '(', regex: true }] } },
  ],
];

const unreachable = (name: string, id: string): Row => ({
  name: `jwt whose keys are ${name}`,
  middleware: {
    type: 'jwt',
    jwt: { issuer: 'i', jwksPath: '/', jwksDestinationId: id, jwksRetrievalTimeout: '200ms' },
  },
  status: 401,
  refused: false,
});

/** Everything that asks a service, in each of its protocols, and what a client is told when it cannot. */
const asking: readonly (readonly [string, number, (place: string) => Broken])[] = (['extAuthz', 'extProc'] as const)
  .flatMap((type) =>
    [
      ['http', 'sluice'],
      ['grpc', 'sluice'],
      ['grpc', 'envoy'],
    ].map(([mode, protocol]) => [type, mode, protocol] as const),
  )
  .map(([type, mode, protocol]) => [
    `${type} over ${mode}, protocol ${protocol}`,
    type === 'extAuthz' ? 403 : 500,
    (destinationId) => {
      const limit = {
        [type === 'extAuthz' ? 'decisionTimeout' : 'phaseTimeout']: destinationId === 'silent' ? '50ms' : '60s',
      };
      return { type, [type]: { destinationId, mode, protocol, ...limit } };
    },
  ]);

/** Destinations of the service, by what is there. */
const places = {
  gone: 'missing',
  refusing: 'refused',
  silent: 'late',
  babbling: 'garbage',
  cutting: 'cut off',
  plain: 'TLS that is none',
};

const unasked = asking.flatMap(([name, status, at]) =>
  Object.entries(places).map(([place, how]) => ({
    name: `${name}, whose service is ${how}`,
    middleware: at(place),
    status,
    refused: false,
  })),
);

const rows: readonly Row[] = [
  ...unasked,
  ...unbuilt.map(([name, middleware]) => ({ name, middleware, status: 500, refused: true })),
  unreachable('at a destination that does not exist', 'gone'),
  unreachable('refused', 'refusing'),
  unreachable('late', 'hanging'),
  unreachable('answered with 500', 'failing'),
  unreachable('garbage', 'lying'),
  unreachable('a document without keys', 'empty'),
  unreachable('cut off', 'cutting'),
  unreachable('behind a certificate that nobody trusts', 'plain'),
];

describe('what fails closed', () => {
  const bed = new MiddlewareBed();
  let destinations: Destination[];
  before(async () => {
    const at = (id: string, port: number, more: object = {}) => ({ id, name: id, host: '127.0.0.1', port, ...more });
    const answering = (text: string, status = 200) =>
      bed.bed.upstream((_request, response) => {
        response.statusCode = status;
        response.end(text);
      });
    const raw = (act: (socket: Socket) => void): Promise<number> => {
      const server = createServer((socket) => act(socket.on('error', () => {}).resume()));
      const sockets = new Set<Socket>();
      server.on('connection', (socket: Socket) => sockets.add(socket));
      bed.bed.atEnd(async () => {
        server.close();
        for (const socket of sockets) socket.destroy();
      });
      return listening(server);
    };
    const tls = { options: { tls: { mode: 'tls' as const } } };
    destinations = [
      at('refusing', 1),
      at('hanging', await bed.bed.upstream(() => {})),
      at('silent', await raw(() => {})),
      at('babbling', await raw((socket) => void socket.end('rubbish\r\n\r\n'))),
      at('failing', await answering(jwt.jwksInline, 500)),
      at('lying', await answering('<html>')),
      at('empty', await answering('{"keys":[]}')),
      at('cutting', await bed.bed.upstream((request) => void request.socket.destroy())),
      at('plain', await answering(jwt.jwksInline), tls),
    ];
  });
  after(() => bed.end());

  for (const { name, middleware, status, refused } of rows) {
    it(`${name}: ${status}`, async () => {
      await bed.serve([middleware as never], { more: { destinations } });
      const reached = bed.reached.length;
      const authorization = `Bearer ${tokenOf(by, { iss: 'i', exp: inAnHour() })}`;
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const answer = await bed.ask({ method, headers: { authorization, origin: 'https://a.example' } });
        expect(answer.status, method).to.equal(status);
      }
      expect(bed.reached.length).to.equal(reached);
    });

    if (!refused) continue;
    it(`${name}: refuses the snapshot, with a pointer`, async () => {
      const { problems, warnings } = await checkConfig(
        {
          listeners: [],
          destinations: [],
          groups: [],
          middlewares: [{ id: 'm', name: 'm', ...middleware } as unknown as Middleware],
          routes: [{ id: 'r', name: 'r', middlewareIds: ['m'], directResponse: { status: 200 } }],
        },
        Date.now(),
      );
      const builds = buildOf(middleware.type) !== undefined;
      const pointers = [...problems, ...warnings].map(({ pointer }) => pointer);
      expect(pointers).to.deep.equal([builds ? `/middlewares/m/${middleware.type}` : '/routes/r/middlewareIds/0']);
    });
  }

  it('conditions that do not compile close the entry too: the requests to protect are unknown', async () => {
    const reached = bed.reached.length;
    for (const override of [{ skipWhen: ['request.'] }, { onlyWhen: ['request.'] }]) {
      await bed.serve([{ type: 'headers', headers: {} }], { route: { middlewareOverrides: { m0: override } } });
      expect((await bed.ask()).status).to.equal(500);
    }
    expect(bed.reached.length).to.equal(reached);
  });

  it('an id that names no middleware closes the entry', async () => {
    await bed.serve([], { route: { middlewareIds: ['gone'] } });
    expect((await bed.ask()).status).to.equal(500);
  });
});
