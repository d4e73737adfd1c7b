import type { CelInput } from '@bufbuild/cel';
import type { RequestTls, RequestView } from '../../../../src/expression/cel/value-view.ts';
import type { Vocabulary } from './random-expression.ts';
import { aRequest } from './request-facts.ts';

export const ofRequests: Vocabulary = {
  texts: [
    'request.method',
    'request.path',
    'request["host"]',
    'request.scheme',
    'request.clientIp',
    'request.headers["x-user"]',
    'request.headers.accept',
    'request.headers["x-none"]',
    'request.queryParams["page"]',
    'request.queryParams.q',
    'request.body.raw',
    'request.body.json.name',
    'request.body.json.tags[0]',
    'request.tls.peerCertificate.subject',
    'request.tls.peerCertificate.uris[0]',
    'string(request.body.json.count)',
    'request.headers["x-roles"].split(",")[0]',
    'request.method.lowerAscii()',
    'request.path.substring(1)',
    'request.path.replace("/", "a")',
  ],
  ints: [
    'size(request.path)',
    'request.headers.size()',
    'size(request.queryParams)',
    'int(request.queryParams["page"])',
    'request.path.indexOf("a")',
    'size(request.body.json.tags)',
    'request.body.json.count',
  ],
  doubles: ['double(request.body.json.count)', 'request.body.json.ratio'],
  lists: [
    'request.body.json.tags',
    'request.headers["x-roles"].split(",")',
    'request.tls.peerCertificate.uris',
    'request.tls.peerCertificate.dnsNames',
    '[request.headers["x-user"], "ops"]',
  ],
  numbers: ['request.body.json.count', 'request.body.json.ratio', 'request.body.json.name'],
  conditions: [
    'has(request.body)',
    'has(request.body.json)',
    'has(request.body.json.name)',
    'has(request.body.json.deep.er)',
    'has(request.tls)',
    'has(request.tls.peerCertificate.subject)',
    'has(request.headers.accept)',
    'has(request.queryParams.q)',
    '"x-user" in request.headers',
    '"X-User" in request.headers',
    '"page" in request.queryParams',
    '"name" in request.body.json',
    'request.body.json.flag',
    'request.body.json.deep.er == "a"',
    'request.headers.exists(name, name.startsWith("x-"))',
    'request.queryParams.all(name, request.queryParams[name] != "")',
    'request.body.json.tags.exists(tag, request.headers["x-roles"].contains(tag))',
  ],
};

const tls: RequestTls = {
  peerCertificate: { uris: ['spiffe://a', 'a'], dnsNames: [], subject: 'CN=ann,O=ops', serial: '5' },
};

type Given = Parameters<typeof aRequest>[0] & { readonly headers: Readonly<Record<string, string>> };

const json = { 'content-type': 'application/json' };

/**
 * No null in bodies, which one of the evaluators takes for absent, and no empty text where a number is asked for, which
 * the other two take for 0; `deep` and `json` are maps wherever they are.
 */
const requests: readonly Given[] = [
  {
    method: 'POST',
    path: '/api/a',
    query: 'page=5&q=a',
    headers: { ...json, 'x-user': 'ann', 'x-roles': 'admin,ops', accept: 'a' },
    body: '{"name":"ann","count":5,"ratio":2.5,"flag":true,"tags":["admin","a"],"deep":{"er":"a"}}',
    tls,
  },
  { method: 'GET', path: '/', query: '', headers: {} },
  {
    method: 'PUT',
    path: '/%C3%A9/5',
    host: 'ann',
    query: 'page=x&q=%C3%A9+b&q=2',
    headers: { ...json, 'x-user': '', 'x-roles': '', accept: 'é😀' },
    body: '{"name":7,"count":"5","ratio":-1,"flag":"yes","tags":"admin","deep":{}}',
  },
  { path: '/a', query: 'q&page=7', headers: { 'x-roles': 'a', 'content-type': 'text/plain' }, body: 'admin' },
  {
    path: '/ann',
    query: 'page=5',
    headers: { ...json, 'x-user': 'admin' },
    body: '{"tags":[],"count":4503599627370496}',
    tls,
  },
];

/** One request as the three evaluators are given it. */
export interface RequestContext {
  readonly view: RequestView;
  /** Everything that is there, as plain maps. */
  readonly plain: Readonly<Record<string, CelInput>>;
}

/** Written out by hand from the documentation of `request`, not by the view under test. */
function plainOf({ headers, query = '', body, tls: certificate, ...given }: Given): Record<string, CelInput> {
  const queryParams: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(query)) queryParams[name] ??= value;
  const isJson = headers['content-type'] === 'application/json';
  return {
    method: 'GET',
    host: 'shop.test',
    scheme: 'http',
    clientIp: '192.0.2.1',
    path: '/',
    ...given,
    headers,
    queryParams,
    ...(body === undefined ? {} : { body: { raw: body, ...(isJson ? { json: parsed(body) } : {}) } }),
    ...(certificate && { tls: plainTls(certificate) }),
  };
}

const plainTls = ({ peerCertificate: { uris, dnsNames, subject, serial } }: RequestTls): CelInput => ({
  peerCertificate: { uris: [...uris], dnsNames: [...dnsNames], subject, serial },
});

/** Whole numbers are ints. */
const parsed = (body: string): CelInput => JSON.parse(body, wholeAsInt);

const wholeAsInt = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && Number.isInteger(value) ? BigInt(context?.source ?? value) : value;

export const requestContexts: readonly RequestContext[] = requests.map((given) => ({
  view: aRequest(given),
  plain: plainOf(given),
}));
