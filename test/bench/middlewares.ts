// CPU of one thread for what a middleware adds to a request, without the exchange around it. Prints a table;
// docs/performance.md keeps its figures. Requests are made of texts, whose fields are slower to find than those of a parsed head.
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { compileCel } from '../../src/expression/cel/compiled-program.ts';
import { storedKey } from '../../src/model/stored-api-key.ts';
import { LineBatches } from '../../src/proxy/access-log/line-batches.ts';
import { ConsumerDirectory } from '../../src/proxy/consumers/consumer-directory.ts';
import type { MiddlewarePhases } from '../../src/proxy/exchange/phase.ts';
import { buildAccessLog } from '../../src/proxy/middleware/access-log.ts';
import { buildApiKey } from '../../src/proxy/middleware/api-key.ts';
import { buildBasicAuth } from '../../src/proxy/middleware/basic-auth.ts';
import { buildCompress } from '../../src/proxy/middleware/compress.ts';
import { buildCors } from '../../src/proxy/middleware/cors.ts';
import { grpcWeb } from '../../src/proxy/middleware/grpc-web.ts';
import { buildHeaders } from '../../src/proxy/middleware/headers.ts';
import { buildInlineAuthz } from '../../src/proxy/middleware/inline-authz.ts';
import { buildJwt, keySourceOf } from '../../src/proxy/middleware/jwt.ts';
import { buildLeasedRateLimit, buildRateLimit } from '../../src/proxy/middleware/rate-limit.ts';
import { addressKey } from '../../src/proxy/shared/bucket-key.ts';
import { LeasedBuckets } from '../../src/proxy/shared/leased-buckets.ts';
import { TokenBuckets } from '../../src/proxy/shared/token-buckets.ts';
import { systemClock } from '../../src/util/clock.ts';
import { drain } from '../../src/util/time-slice.ts';
import { secretHashes } from '../support/password-hashes.ts';
import { StubExchange } from '../support/stub-exchange.ts';
import { inAnHour, jwksOf, signerOf, tokenOf } from '../support/tokens.ts';

optionsOf(import.meta.url, {});

const rounds = Number(process.env.ROUNDS ?? 200_000);

function row(what: string, run: () => unknown, times = rounds): void {
  for (let i = 0; i < times / 4; i++) run();
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) run();
  const { user, system } = process.cpuUsage(before);
  console.log(`| ${what} | ${((user + system) / times).toFixed(2)} µs |`);
}

const signer = signerOf('ES256');
const claims = { iss: 'i', exp: inAnHour(), sub: 'ann', roles: ['a', 'b'], email: 'ann@shop.test', aud: 'shop' };
const exchangeWith = (token: string) =>
  new StubExchange({
    fields: [
      ...['Host', 'shop.test', 'User-Agent', 'Mozilla/5.0 (X11; Linux x86_64)', 'Accept', '*/*'],
      ...['Accept-Encoding', 'gzip', 'Authorization', `Bearer ${token}`, 'X-A', '1', 'Origin', 'https://a.test'],
    ],
  });
const exchange = exchangeWith(tokenOf(signer, claims));

/** Resets the exchange to the state of a new request. */
function fresh(): void {
  exchange.request.edits.clear();
  exchange.response.edits.clear();
  exchange.state.length = 0;
  exchange.request.view.forgetHeaders();
}

const through = (middleware: MiddlewarePhases) => () => {
  fresh();
  middleware.onRequest?.(exchange.seen, 0);
  middleware.onResponse?.(exchange.seen, 0);
  middleware.onFinish?.(exchange.seen, 0);
};

console.log('| What | CPU per request |\n|---|---|');

const conditions = ['request.method == "POST"', 'request.headers["x-a"] == "2"', 'request.path.startsWith("/admin")'];
const programs = conditions.map((condition) => compileCel(condition, 'request', 'bool'));
const edit = buildHeaders({ requestHeadersToAdd: [{ key: 'X-Tenant', value: '${request.host}' }] });
row('three conditions and a header edit', () => {
  fresh();
  if (!programs.some((program) => program.decide(exchange.request.view) === true)) edit.onRequest?.(exchange.seen, 0);
});

row('grpcWeb, another request', through(grpcWeb));

row('cors, origin allowed', through(buildCors({ allowOrigins: [{ value: 'https://a.test' }] })));

row('compress, response of another type', through(buildCompress({}).run({ share: (count) => count })));

const rules = [
  { cel: 'request.method == "POST"', action: 'deny' },
  { cel: 'request.headers["x-a"] == "1"', action: 'allow' },
] as const;
row('inlineAuthz, two rules', through(buildInlineAuthz({ rules })));

const rate = { requestsPerSecond: 1e6, burst: 1e6 };
const buckets = new TokenBuckets(TokenBuckets.memory(131_072), rate, 1);
row('rateLimit', through(buildRateLimit(rate)([buckets], () => performance.now())));
const limits = [
  { requests: 1e6, per: '1s' },
  { requests: 1e8, per: '1h' },
];
const limiter = buildRateLimit({ key: 'request.headers["x-a"]', limits });
const sets = limits.map(
  ({ requests }) => new TokenBuckets(TokenBuckets.memory(131_072), { requestsPerSecond: 1e6, burst: requests }, 1),
);
const large = { requestsPerSecond: 1e9, burst: 1e9 };
const leased = new LeasedBuckets(LeasedBuckets.memory(16_384), large, 1);
const leasedRow = leased.wish(addressKey(exchange.seen.request.clientIp), 1, 'k', false);
leased.fill(leasedRow, large.burst, large.burst);
const inCluster = buildLeasedRateLimit({ ...large, scope: 'cluster' });
row(
  'rateLimit of the cluster, tokens in hand',
  through(inCluster({ buckets: [leased], wait: async () => {} }, () => performance.now())),
);
row('rateLimit by a header, two limits with their fields', through(limiter(sets, () => performance.now())));

const config = {
  issuer: 'i',
  jwksInline: jwksOf(signer.jwk),
  claimToHeaders: [{ expr: 'claims.sub', header: 'X-User' }],
};
const keys = keySourceOf(config)(() => {
  throw new Error('keys are inline');
});
const jwt = buildJwt(config)(keys, systemClock);
row('jwt, token known', through(jwt));
const others = Array.from({ length: 2500 }, (_, i) => exchangeWith(tokenOf(signer, { ...claims, i })));
let next = 0;
row('jwt ES256, token new', () => jwt.onRequest?.(others[next++]?.seen ?? exchange.seen, 0), 2000);

const basicAuth = buildBasicAuth({ users: `ann:${secretHashes.scrypt}` })({ share: (count) => count });
const signedIn = new StubExchange({
  fields: ['Authorization', `Basic ${Buffer.from('ann:secret').toString('base64')}`],
});
await basicAuth.onRequest?.(signedIn.seen, 0);
row('basicAuth, credentials known', () => {
  signedIn.request.edits.clear();
  signedIn.request.view.forgetHeaders();
  basicAuth.onRequest?.(signedIn.seen, 0);
});

const apiKey = buildApiKey({ sources: { header: 'X-Api-Key' } });
const key = 'f4Zk3mT0y9vQ2sXhW7pLcB';
const credentials = [{ type: 'apiKey', key: storedKey(key) }] as const;
const { directory } = drain(ConsumerDirectory.of([{ id: 'app', name: 'app', credentials }]));
const withKey = new StubExchange({ fields: ['Host', 'shop.test', 'X-Api-Key', key], consumers: directory });
row('apiKey', () => {
  withKey.request.edits.clear();
  withKey.request.view.forgetHeaders();
  if (apiKey.onRequest?.(withKey.seen, 0) !== undefined) throw new Error('the key must pass');
});

const fields = {
  ...{ id: '${id}', method: '${request.method}', path: '${request.path}', host: '${request.host}' },
  ...{ client: '${request.clientIp}', agent: '${request.header.user-agent}', status: '${response.status}' },
  ...{ bytes: '${response.bytes}', us: '${duration.us}', route: '${route.name}' },
};
const lines: LineBatches = new LineBatches(systemClock, ({ path, bytes }) => lines.written(path, bytes.length));
row(
  'accessLog, JSON, ten fields',
  through(buildAccessLog({ path: 'x', json: true, onResponse: { fields } }, lines.sinkOf('x'))),
);
