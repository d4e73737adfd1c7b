import { listenerBody as body, describeRows } from '../../support/entities.ts';

const tls = (changes: object = {}) => body({ tls: { cert: 'c', key: 'k', ...changes } });
const clientAuth = (value: object) => tls({ clientAuth: value });
const metrics = (value: object) => body({ metrics: value });
const buckets = (durationBuckets: unknown) => metrics({ histograms: { durationBuckets } });

describeRows('listeners, any kind: name and id (contract.md §2.11)', 'listeners', [
  ['a missing name', { port: 1 }, ['/name']],
  ['an empty name', body({ name: '' }), ['/name']],
  ['a name with : and / and blanks (§12 row 29)', body({ name: 'k8s:ns/name/rule-0 match' })],
  ['an id of all its characters', body({ id: 'Az09._~:-' })],
  ['an id of 512 characters', body({ id: 'a'.repeat(512) })],
  ['an id of 513 characters', body({ id: 'a'.repeat(513) }), ['/id']],
  ['an id with a slash', body({ id: 'a/b' }), ['/id']],
  ['an id with a line end', body({ id: 'a\n' }), ['/id']],
]);

describeRows('listeners: address and port', 'listeners', [
  ['the smallest body (§12 row 3)', body()],
  ['a missing port', { name: 'a' }, ['/port']],
  ['port 0', body({ port: 0 }), ['/port']],
  ['port 65536', body({ port: 65_536 }), ['/port']],
  ['port 1.5', body({ port: 1.5 }), ['/port']],
  ['port 65535', body({ port: 65_535 })],
  ['IPv6 as an address', body({ address: '[::]' })],
  ['a host name as an address', body({ address: 'localhost' })],
  ['an address with a port', body({ address: 'localhost:80' }), ['/address']],
]);

const sections = (...list: readonly unknown[]) => body({ sections: list });

describeRows('listeners: sections', 'listeners', [
  ['none', sections()],
  ['one without hosts', sections({ name: 'all' })],
  ['several of different hosts', sections({ name: 'a', hostnames: ['a.test', '*.b.test'] }, { name: 'rest' })],
  ['one that names a host twice', sections({ name: 'a', hostnames: ['a.test', 'A.test'] })],
  ['one without a name', sections({ hostnames: ['a.test'] }), ['/sections/0/name']],
  ['a name with a slash', sections({ name: 'a/b' }), ['/sections/0/name']],
  ['a name of 513 characters', sections({ name: 'a'.repeat(513) }), ['/sections/0/name']],
  [
    'two of one name',
    sections({ name: 'a', hostnames: ['a.test'] }, { name: 'a', hostnames: ['b.test'] }),
    ['/sections/1/name'],
  ],
  ['a host with a port', sections({ name: 'a', hostnames: ['a.test:80'] }), ['/sections/0/hostnames/0']],
  [
    'one host in two, in another spelling',
    sections({ name: 'a', hostnames: ['a.test'] }, { name: 'b', hostnames: ['b.test', 'A.Test.'] }),
    ['/sections/1/hostnames/1'],
  ],
  ['two for any host', sections({ name: 'a' }, { name: 'b', hostnames: [] }), ['/sections/1/hostnames']],
  ['two for any host, one by *', sections({ name: 'a', hostnames: ['*'] }, { name: 'b' }), ['/sections/1/hostnames']],
]);

describeRows('listeners: redirectToHttps', 'listeners', [
  ['an empty one', body({ redirectToHttps: {} })],
  ['port and code', body({ redirectToHttps: { port: 8443, code: 302 } })],
  ['a code of 303', body({ redirectToHttps: { code: 303 } }), ['/redirectToHttps/code']],
  ['port 0', body({ redirectToHttps: { port: 0 } }), ['/redirectToHttps/port']],
  ['beside tls', body({ tls: { cert: 'c', key: 'k' }, redirectToHttps: {} }), ['/redirectToHttps']],
]);

describeRows('listeners: certificates by server name, clients without verification', 'listeners', [
  [
    'server names of a certificate',
    tls({ certificates: [{ cert: 'a', key: 'b', serverNames: ['a.test', '*.a.test', '*'] }] }),
  ],
  [
    'a server name with a port',
    tls({ certificates: [{ cert: 'a', key: 'b', serverNames: ['a.test:443'] }] }),
    ['/tls/certificates/0/serverNames/0'],
  ],
  ['clientAuth unverified without ca', clientAuth({ mode: 'unverified' })],
  ['clientAuth unverified with ca', clientAuth({ mode: 'unverified', ca: 'x' })],
]);

describeRows('listeners: tls (contract.md §2.11)', 'listeners', [
  ['cert and key that are no PEM (§12 row 11)', tls()],
  ['tls without cert and key', body({ tls: {} }), ['/tls/cert', '/tls/key']],
  ['tls without key', body({ tls: { cert: 'c' } }), ['/tls/key']],
  [
    'further certificates',
    tls({
      certificates: [
        { cert: 'a', key: 'b' },
        { cert: '{{secret:value:c}}', key: 'd' },
      ],
    }),
  ],
  [
    'further certificates without cert or key',
    tls({ certificates: [{ cert: 'a', key: 'b' }, { cert: 'a' }, { key: 'b' }] }),
    ['/tls/certificates/1/key', '/tls/certificates/2/cert'],
  ],
  ['further certificates without the default', body({ tls: { certificates: [] } }), ['/tls/cert', '/tls/key']],
  ['names that are not known, refused', tls({ unknownServerName: 'reject', strictServerName: true })],
  ['an unknown word for them', tls({ unknownServerName: 'drop' }), ['/tls/unknownServerName']],
  ['an unknown version', tls({ minVersion: 'TLSv1.2' }), ['/tls/minVersion']],
  ['min above max', tls({ minVersion: 'TLSv1_3', maxVersion: 'TLSv1_2' }), ['/tls/maxVersion']],
  ['max below the default of min', tls({ maxVersion: 'TLSv1_1' }), ['/tls/maxVersion']],
  ['max below the default of min when min is lower too', tls({ minVersion: 'TLSv1_0', maxVersion: 'TLSv1_1' })],
  ['min equal to max', tls({ minVersion: 'TLSv1_3', maxVersion: 'TLSv1_3' })],
  ['an unknown clientAuth mode', clientAuth({ mode: 'maybe' }), ['/tls/clientAuth/mode']],
  ['optional without ca', clientAuth({ mode: 'optional' }), ['/tls/clientAuth/ca']],
  ['require without ca', clientAuth({ mode: 'require', ca: '' }), ['/tls/clientAuth/ca']],
  ['require with ca', clientAuth({ mode: 'require', ca: 'c' })],
  ['clientAuth without a mode', clientAuth({})],
  ['none without ca', clientAuth({ mode: 'none' })],
]);

describeRows('listeners: proxyErrors and metrics (contract.md §2.11)', 'listeners', [
  ['each detail', body({ proxyErrors: { detail: 'minimal' } })],
  ['an unknown detail', body({ proxyErrors: { detail: 'all' } }), ['/proxyErrors/detail']],
  ['the short form', body({ proxyErrors: 'standard' })],
  ['an unknown detail in the short form', body({ proxyErrors: 'all' }), ['/proxyErrors']],
  ['empty metrics', metrics({})],
  [
    'all of metrics',
    metrics({ path: '/m', collect: { endpoint: true, route: false }, histograms: { sizeBuckets: [1, 2] } }),
  ],
  ['a metrics path without /', metrics({ path: 'm' }), ['/metrics/path']],
  ['a metrics path with a query', metrics({ path: '/m?a' }), ['/metrics/path']],
  ['a metrics path with a fragment', metrics({ path: '/m#a' }), ['/metrics/path']],
  ['a metrics path with a blank', metrics({ path: '/a b' }), ['/metrics/path']],
  ['increasing buckets', buckets([0.001, 1, 10.5])],
  ['no buckets', buckets([])],
  ['buckets that repeat', buckets([1, 2, 2]), ['/metrics/histograms/durationBuckets/2']],
  ['buckets that fall', buckets([2, 1]), ['/metrics/histograms/durationBuckets/1']],
  ['a bucket of 0', buckets([0, 1]), ['/metrics/histograms/durationBuckets/0']],
  ['an infinite bucket', buckets([1, Number.POSITIVE_INFINITY]), ['/metrics/histograms/durationBuckets/1']],
  ['a bucket that is no number', buckets(['1']), ['/metrics/histograms/durationBuckets/0']],
  ['size buckets that fall', metrics({ histograms: { sizeBuckets: [2, 1] } }), ['/metrics/histograms/sizeBuckets/1']],
]);

describeRows('listeners: limits (contract.md §2.2, architecture.md §9)', 'listeners', [
  ['all timeouts off', body({ timeouts: { clientHeader: '0', clientRequest: '0s', clientResponse: '0ms' } })],
  ['limits on HTTP/2', body({ http2: true, http2Options: { maxConcurrentStreams: 1000, maxResetsPerSecond: 1 } })],
  ['limits on HTTP/2 that is off', body({ http2Options: {} })],
  [
    'limits on HTTP/2 beyond their bounds',
    body({ http2Options: { maxConcurrentStreams: 1001, maxResetsPerSecond: 0 } }),
    ['/http2Options/maxConcurrentStreams', '/http2Options/maxResetsPerSecond'],
  ],
  ['no streams at all', body({ http2Options: { maxConcurrentStreams: 0 } }), ['/http2Options/maxConcurrentStreams']],
  ['an idle limit on tunnels', body({ timeouts: { idleTunnel: '1h' } })],
  ['a bad idle limit on tunnels', body({ timeouts: { idleTunnel: 'never' } }), ['/timeouts/idleTunnel']],
  ['a bad timeout', body({ timeouts: { idleBetweenRequests: '1d' } }), ['/timeouts/idleBetweenRequests']],
  ['a negative timeout', body({ timeouts: { clientRequest: '-1s' } }), ['/timeouts/clientRequest']],
  ['maxConnections', body({ maxConnections: 10 })],
  ['a negative maxConnections', body({ maxConnections: -1 }), ['/maxConnections']],
  ['maxRequestHeadersKB 0', body({ maxRequestHeadersKB: 0 })],
  ['maxRequestHeaders 1 and 1000', body({ maxRequestHeaders: 1000 })],
  ['maxRequestHeaders 0', body({ maxRequestHeaders: 0 }), ['/maxRequestHeaders']],
  ['maxRequestHeaders 1001', body({ maxRequestHeaders: 1001 }), ['/maxRequestHeaders']],
  ['trusted proxies', body({ trustedProxies: ['10.0.0.0/8', '::1'] })],
  ['a trusted proxy that is no range', body({ trustedProxies: ['10.0.0.0/8', 'host'] }), ['/trustedProxies/1']],
  ['duplicateQueryParams reject', body({ duplicateQueryParams: 'reject' })],
  ['an unknown duplicateQueryParams', body({ duplicateQueryParams: 'first' }), ['/duplicateQueryParams']],
  ['pathNormalization report', body({ pathNormalization: 'report' })],
  ['an unknown pathNormalization', body({ pathNormalization: 'off' }), ['/pathNormalization']],
  ['debugHeaders', body({ debugHeaders: true })],
  ['a server name that breaks the line', body({ serverName: 'a\r\nSet-Cookie: b' }), ['/serverName']],
]);
