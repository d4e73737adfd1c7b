// Requests for the guarded node, and what an attacker makes of them: structure first, bytes afterwards.
import { origin, tokens } from './guarded-node.ts';

type Random = () => number;
type Field = readonly [name: string, value: string];

export interface Attempt {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly Field[];
  readonly body: string;
  /** Framing of the body over HTTP/1.1, which mutations disturb. */
  readonly chunked: boolean;
  readonly trailers: readonly Field[];
  /** No mutation was applied. */
  readonly pristine: boolean;
}

export const pick = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;

const areas = ['open', 'jwt', 'rules', 'authz', 'grpc', 'proc', 'body', 'all', 'all', 'all', 'limit', 'private'];
const smuggled = 'GET /private/smuggled HTTP/1.1\r\nHost: shop.test\r\n\r\n';
const bodies = ['a=b', `{"a":${'[1,2],'.repeat(20)}0}`, 'allowed for', 'forbidden', `0\r\n\r\n${smuggled}`, smuggled];

/** A request whose every field is as its area asks for, or lacks one. */
function attemptOf(random: Random, id: string): Attempt {
  const area = pick(random, areas);
  const hasBody = random() < 0.4;
  const chunked = hasBody && random() < 0.5;
  const fields: Field[] = [['x-id', id]];
  const offer = (name: string, ...values: string[]) => {
    if (random() < 0.96) fields.push([name, random() < 0.85 ? (values[0] ?? '') : pick(random, values)]);
  };
  offer('authorization', ...Object.values(tokens).map((token) => `Bearer ${token}`), 'Basic YTpi', 'Bearer a.b.c');
  offer('x-tenant', 'public', 'internal', 'Public');
  offer('x-pass', 'yes', 'no');
  offer('user-agent', 'curl', 'evil');
  if (random() < 0.3) offer('origin', origin, 'https://evil.test');
  const method = hasBody
    ? pick(random, ['POST', 'PUT', 'DELETE'])
    : pick(random, ['GET', 'GET', 'HEAD', 'OPTIONS', 'DELETE']);
  const target = `/${area}/${pick(random, ['a', 'secret', 'b/c', ''])}${pick(random, ['', '?q=good', '?q=bad', '?a=1&q=x'])}`;
  return { method, target, fields, body: hasBody ? pick(random, bodies) : '', chunked, trailers: [], pristine: true };
}

const pathPieces = [
  ...[
    '%2e%2e/',
    '../',
    '/./',
    '//',
    '%2f',
    '%2F..%2F',
    '%5c',
    '\\',
    '%00',
    '%zz',
    '%252e%252e/',
    ';a=b',
    '..;/',
    '%c0%ae',
  ],
  ...[
    '\t',
    ' ',
    '\r\n',
    '\u00e9',
    '#',
    '?',
    '%70rivate',
    '/private',
    '/jwt/../private',
    '%73ecret',
    'a/'.repeat(3_000),
  ],
];
const hosts = [
  'http://shop.test',
  'http://other.test:81',
  'https://a@b',
  '*',
  'shop.test:443',
  '//private',
  'HTTP://shop.test',
];
const protectedNames = [
  'x-edge',
  'x-internal',
  'x-user',
  'x_user',
  'X-Authz',
  'x_authz',
  'X_Internal',
  'x-tenant',
  'x-pass',
];
const values = [
  'public',
  'yes',
  'no',
  'v1',
  'ann',
  '',
  'internal',
  'a\tb',
  '\x01',
  'a\r\nx-tenant: public',
  '\u00ff',
  'x'.repeat(20_000),
];
const framings: readonly Field[] = [
  ...[
    'chunked',
    'identity',
    'chunked, chunked',
    'gzip, chunked',
    'xchunked',
    '\x0bchunked',
    'chunked;a',
    'CHUNKED',
  ].map((value): Field => ['Transfer-Encoding', value]),
  ...['0', '5', '+5', '-1', '5, 5', '5,6', '0x5', '5 ', '99999999999999999999', ''].map(
    (value): Field => ['Content-Length', value],
  ),
  ...[['Transfer-Encoding ', 'chunked'] as const, ['Content_Length', '5'] as const, ['Content-Length\t', '4'] as const],
];
const others: readonly Field[] = [
  ['Connection', 'x-tenant, authorization, x-edge'],
  ...[['Connection', 'close'] as const, ['Connection', 'upgrade'] as const, ['Keep-Alive', 'timeout=1'] as const],
  ...[['Upgrade', 'websocket'] as const, ['Upgrade', 'h2c'] as const, ['Expect', '100-continue'] as const],
  ...[
    ['Expect', 'x'] as const,
    ['TE', 'trailers'] as const,
    ['Trailer', 'x-authz'] as const,
    ['Host', 'other'] as const,
  ],
  ...[
    ['Proxy-Connection', 'close'] as const,
    ['X-Forwarded-For', '1.2.3.4,'] as const,
    ['', 'x'] as const,
    ['a b', 'c'] as const,
  ],
  ...[[':path', '/private'] as const, [':method', 'DELETE'] as const, ['x-http-method-override', 'DELETE'] as const],
];

/** One change of the structure. */
function changed(random: Random, attempt: Attempt): Attempt {
  const { fields, target } = attempt;
  const at = Math.floor(random() * (fields.length + 1));
  const withField = (field: Field): Attempt => ({
    ...attempt,
    fields: [...fields.slice(0, at), field, ...fields.slice(at)],
  });
  const [name, value] = fields[at] ?? ['x-id', 'none'];
  const instead = (field: Field): Attempt => ({
    ...attempt,
    fields: fields.map((other, i) => (i === at ? field : other)),
  });
  const cut = Math.floor(random() * (target.length + 1));
  return pick<() => Attempt>(random, [
    () => ({ ...attempt, target: target.slice(0, cut) + pick(random, pathPieces) + target.slice(cut) }),
    () => ({ ...attempt, target: target.slice(0, cut) + pick(random, pathPieces) + target.slice(cut) }),
    () => ({ ...attempt, target: pick(random, hosts) + target }),
    () => ({ ...attempt, target: target.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`) }),
    () => ({
      ...attempt,
      method: pick(random, [
        'delete',
        'Get',
        'CONNECT',
        'TRACE',
        'PRI',
        'G\tT',
        '',
        'DELETE',
        'QUERY',
        'M'.repeat(300),
      ]),
    }),
    () => withField([pick(random, protectedNames), pick(random, values)]),
    () => withField([pick(random, protectedNames), pick(random, values)]),
    () => withField([name, pick(random, values)]),
    () => withField(pick(random, framings)),
    () => withField(pick(random, others)),
    () => instead([name.toUpperCase(), value]),
    () => instead([name.replaceAll('-', '_'), value]),
    () =>
      instead([
        name,
        pick(random, [` ${value}`, `${value} `, `${value},`, `"${value}"`, `${value}\0`, `${value}, ${value}`]),
      ]),
    () => instead([`${name}${pick(random, [' ', '\t', '\0', ':', '\x7f'])}`, value]),
    () => ({ ...attempt, fields: [...fields, ...Array.from({ length: 150 }, (_, i): Field => [`x-${i}`, 'y'])] }),
    () => ({
      ...attempt,
      trailers: [[pick(random, [...protectedNames, 'authorization', 'content-length', 'host']), 'yes']],
    }),
    () => ({ ...attempt, body: attempt.body + pick(random, bodies), chunked: random() < 0.5 }),
  ])();
}

/** A request with up to three changes; one in eight has none. */
export function drawAttempt(random: Random, id: string): Attempt {
  let attempt = attemptOf(random, id);
  if (random() < 0.125) return attempt;
  for (let changes = 1 + Math.floor(random() * 3); changes > 0; changes--) attempt = changed(random, attempt);
  return { ...attempt, pristine: false };
}
