// Middlewares of an Ingress: addresses, rates, cross-origin requests, passwords, external authorization.
import type { ImportedMiddleware } from '../intermediate.ts';
import { allowing, closed, denying, destination, isCidr, middleware, urlParts } from '../shared/common.ts';
import type { Annotations } from './annotations.ts';

/** Order in nginx: rates, then addresses, then passwords and the service. */
export function middlewaresOf(name: string, namespace: string, notes: Annotations): ImportedMiddleware[] {
  return [
    ...cors(name, notes),
    ...rates(name, notes),
    ...addresses(name, notes),
    ...passwords(name, namespace, notes),
    ...service(name, notes),
    ...['auth-tls-secret', 'auth-tls-verify-client'].flatMap((key) => {
      const from = notes.statement(key);
      return from === undefined ? [] : [closed(from, `${name}-closed`)];
    }),
  ];
}

function addresses(name: string, notes: Annotations): ImportedMiddleware[] {
  return ['whitelist-source-range', 'allowlist-source-range', 'denylist-source-range'].flatMap((key) => {
    const from = notes.statement(key);
    const ranges = notes.list(key);
    if (from === undefined || ranges.length === 0) return [];
    const bad = ranges.find((each) => !isCidr(each));
    if (bad !== undefined) {
      notes.notTaken(key, `${bad} is no address range; its routes are closed (403)`, 'inlineAuthz');
      return [closed(from, `${name}-closed`)];
    }
    return [key.startsWith('deny') ? denying(from, `${name}-deny`, ranges) : allowing(from, `${name}-allow`, ranges)];
  });
}

function rates(name: string, notes: Annotations): ImportedMiddleware[] {
  const multiplier = notes.number('limit-burst-multiplier') ?? 5;
  return (
    [
      ['limit-rps', '1s'],
      ['limit-rpm', '1m'],
    ] as const
  ).flatMap(([key, per]) => {
    const from = notes.statement(key);
    const requests = notes.number(key);
    if (from === undefined || requests === undefined || requests < 1) return [];
    notes.approximated(key, 'answers 429 where nginx answers 503, and counts per process');
    return [
      middleware(from, `${name}-${key}`, 'rateLimit', { limits: [{ requests, per, burst: requests * multiplier }] }),
    ];
  });
}

function cors(name: string, notes: Annotations): ImportedMiddleware[] {
  const from = notes.statement('enable-cors');
  const isOn = notes.isTrue('enable-cors');
  const origins = notes.list('cors-allow-origin');
  const methods = notes.list('cors-allow-methods');
  const headers = notes.list('cors-allow-headers');
  const exposed = notes.list('cors-expose-headers');
  const maxAge = notes.number('cors-max-age') ?? 1_728_000;
  const credentials = notes.text('cors-allow-credentials') !== 'false';
  if (from === undefined || !isOn) return [];
  return [
    middleware(from, `${name}-cors`, 'cors', {
      allowOrigins: (origins.length === 0 ? ['*'] : origins).map((origin) => {
        const [, scheme, rest] = /^(https?:\/\/)\*\.(.+)$/.exec(origin) ?? [];
        return scheme === undefined || rest === undefined
          ? { value: origin }
          : { value: `${scheme}[A-Za-z0-9.-]+\\.${rest.replaceAll('.', '\\.')}`, regex: true };
      }),
      allowMethods: methods.length === 0 ? ['GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS'] : methods,
      allowHeaders: headers.length === 0 ? usualHeaders : headers,
      ...(exposed.length > 0 && { exposeHeaders: exposed }),
      maxAge,
      allowCredentials: credentials,
    }),
  ];
}

const usualHeaders =
  'DNT Keep-Alive User-Agent X-Requested-With If-Modified-Since Cache-Control Content-Type Range Authorization'.split(
    ' ',
  );

function passwords(name: string, namespace: string, notes: Annotations): ImportedMiddleware[] {
  const from = notes.statement('auth-secret');
  const type = notes.text('auth-type');
  const secret = notes.text('auth-secret');
  const realm = notes.text('auth-realm');
  notes.text('auth-secret-type');
  if (type === undefined && from === undefined) return [];
  if (type !== 'basic' || from === undefined || secret === undefined) {
    notes.notTaken('auth-type', 'only basic is known; its routes are closed (403)', 'extAuthz, jwt');
    return [closed(from ?? notes.metadata, `${name}-closed`)];
  }
  const file = secretFile(namespace, secret, '.htpasswd');
  notes.approximated('auth-secret', `put it into ${file} of each node; hashes of MD5 and SHA-1 must be made anew`);
  return [
    middleware(from, `${name}-basic-auth`, 'basicAuth', {
      users: `{{secret:file:${file}}}`,
      ...(realm !== undefined && { realm }),
    }),
  ];
}

/** File of a node that takes the place of a secret of Kubernetes. */
export function secretFile(namespace: string, secret: string, suffix: string): string {
  const [first = '', second] = secret.split('/');
  return `/etc/sluice/secrets/${second === undefined ? `${namespace}-${first}` : `${first}-${second}`}${suffix}`;
}

function service(name: string, notes: Annotations): ImportedMiddleware[] {
  const from = notes.statement('auth-url');
  const url = notes.text('auth-url');
  const copied = notes.list('auth-response-headers');
  const method = notes.text('auth-method');
  if (from === undefined || url === undefined) return [];
  const parts = urlParts(url);
  if (parts === undefined) {
    notes.notTaken('auth-url', 'variables in the URL have no counterpart; its routes are closed (403)', 'a fixed URL');
    return [closed(from, `${name}-closed`)];
  }
  if (method !== undefined) notes.approximated('auth-method', 'the check has the method of the request');
  notes.approximated('auth-url', 'the service sees the fields listed in onCheck alone');
  return [
    {
      ...middleware(from, `${name}-auth`, 'extAuthz', {
        path: parts.path,
        onCheck: { forwardHeaders: ['authorization', 'cookie'] },
        ...(copied.length > 0 && { onAllow: { copyToUpstream: copied } }),
      }),
      uses: {
        field: 'destinationId',
        destination: destination(
          from,
          `${name}-auth`,
          parts.host,
          parts.port,
          parts.isSecure ? { tls: { mode: 'tls' } } : {},
        ),
      },
    },
  ];
}
