import { describeRows, destinationBody } from '../../support/entities.ts';

const endpoint = (...changes: object[]) =>
  destinationBody({ endpoints: changes.map((change) => ({ host: 'a', port: 1, ...change })) });
const options = (value: object) => destinationBody({ options: value });
const balancing = (value: object) => options({ endpointBalancing: value });
const ring = (value: object) => balancing({ algorithm: 'RING_HASH', ringHash: value });
const maglev = (value: object) => balancing({ algorithm: 'MAGLEV', maglev: value });
const at = (...paths: readonly string[]) => paths.map((path) => `/options${path}`);

describeRows('destinations: host, port, endpoints (contract.md §2.11)', 'destinations', [
  ['a missing host and port', { name: 'd' }, ['/host', '/port']],
  ['a host with a scheme', destinationBody({ host: 'http://a' }), ['/host']],
  ['a host with a port', destinationBody({ host: 'a:80' }), ['/host']],
  ['IPv6 with and without brackets', destinationBody({ host: '[::1]', endpoints: [{ host: '::1', port: 1 }] })],
  ['no endpoints', destinationBody({ endpoints: [] })],
  [
    'an endpoint without host and port',
    destinationBody({ endpoints: [{}] }),
    ['/endpoints/0/host', '/endpoints/0/port'],
  ],
  ['an endpoint of a bad port', destinationBody({ endpoints: [{ host: 'a', port: 70_000 }] }), ['/endpoints/0/port']],
  ['weights and priorities', endpoint({ weight: 1000, priority: 15 }, { weight: 1, priority: 0 })],
  [
    'weights and priorities out of bounds',
    endpoint({ weight: 0 }, { weight: 1001 }, { weight: 1.5 }, { priority: 16 }, { priority: -1 }),
    [
      '/endpoints/0/weight',
      '/endpoints/1/weight',
      '/endpoints/2/weight',
      '/endpoints/3/priority',
      '/endpoints/4/priority',
    ],
  ],
  ['ten thousand endpoints', destinationBody({ endpoints: Array(10_000).fill({ host: 'a', port: 1 }) })],
]);

describeRows('destinations: endpoint balancing (contract.md §2.3.3)', 'destinations', [
  ['an unknown algorithm', balancing({ algorithm: 'FASTEST' }), at('/endpointBalancing/algorithm')],
  ['RING_HASH without a block', balancing({ algorithm: 'RING_HASH' })],
  ['ring min above max', ring({ ringSize: { min: 11, max: 10 } }), at('/endpointBalancing/ringHash/ringSize/min')],
  [
    'ring max below the default of min',
    ring({ ringSize: { max: 10 } }),
    at('/endpointBalancing/ringHash/ringSize/min'),
  ],
  ['ring min 0', ring({ ringSize: { min: 0 } }), at('/endpointBalancing/ringHash/ringSize/min')],
  [
    'a ring that no memory holds',
    ring({ ringSize: { min: 4e9, max: 4e9 } }),
    at('/endpointBalancing/ringHash/ringSize/min'),
  ],
  ['ring min equal to max', ring({ ringSize: { min: 10, max: 10 } })],
  ['a table of a prime', maglev({ tableSize: 5_000_011 })],
  ['the smallest table', maglev({ tableSize: 3 })],
  ['a table of no prime', maglev({ tableSize: 65_536 }), at('/endpointBalancing/maglev/tableSize')],
  ['a table of an odd number that is no prime', maglev({ tableSize: 9 }), at('/endpointBalancing/maglev/tableSize')],
  ['a table of 2', maglev({ tableSize: 2 }), at('/endpointBalancing/maglev/tableSize')],
  ['a table above the bound', maglev({ tableSize: 5_000_021 }), at('/endpointBalancing/maglev/tableSize')],
  [
    'no choices',
    balancing({ algorithm: 'LEAST_REQUEST', leastRequest: { choiceCount: 0 } }),
    at('/endpointBalancing/leastRequest/choiceCount'),
  ],
  [
    'a bad cookie name',
    balancing({ algorithm: 'STICKY', sticky: { cookie: { name: 'a b' } } }),
    at('/endpointBalancing/sticky/cookie/name'),
  ],
  [
    'a bad cookie ttl',
    balancing({ algorithm: 'STICKY', sticky: { cookie: { ttl: '1d' } } }),
    at('/endpointBalancing/sticky/cookie/ttl'),
  ],
  [
    'blocks of algorithms that are not selected',
    balancing({
      algorithm: 'ROUND_ROBIN',
      maglev: { tableSize: 0 },
      ringHash: { hashPolicy: [{}] },
      leastRequest: { choiceCount: 0 },
    }),
  ],
  ['wrong types even there', balancing({ maglev: { tableSize: '7' } }), at('/endpointBalancing/maglev/tableSize')],
]);

describeRows('destinations: hash policies (contract.md §2.3.3)', 'destinations', [
  ['one of each', ring({ hashPolicy: [{ header: { name: 'x-a' } }, { cookie: {} }, { sourceIP: { enabled: true } }] })],
  ['none of the three', maglev({ hashPolicy: [{}] }), at('/endpointBalancing/maglev/hashPolicy/0')],
  [
    'two of the three',
    ring({ hashPolicy: [{ cookie: {} }, { header: { name: 'a' }, cookie: {} }] }),
    at('/endpointBalancing/ringHash/hashPolicy/1'),
  ],
  [
    'a header without name',
    ring({ hashPolicy: [{ header: {} }] }),
    at('/endpointBalancing/ringHash/hashPolicy/0/header/name'),
  ],
]);

describeRows('destinations: health, breaker, outliers (contract.md §2.3.4–§2.3.6)', 'destinations', [
  ['a health check without path', options({ healthCheck: {} }), at('/healthCheck/path')],
  ['a health check of type http without path', options({ healthCheck: { type: 'http' } }), at('/healthCheck/path')],
  ['health checks by tcp', options({ healthCheck: { type: 'tcp' } })],
  ['health checks by grpc', options({ healthCheck: { type: 'grpc', grpcService: 'shop.v1.Catalog' } })],
  ['a health check of an unknown type', options({ healthCheck: { type: 'icmp' } }), at('/healthCheck/type')],
  ['expected statuses', options({ healthCheck: { path: '/', expectedStatuses: ['200', '204-299', '599-599'] } })],
  [
    'expected statuses that are none',
    options({ healthCheck: { path: '/', expectedStatuses: ['2xx', '99', '600', '299-200', '200-', '200-299-300'] } }),
    at(...Array.from({ length: 6 }, (_, index) => `/healthCheck/expectedStatuses/${index}`)),
  ],
  ['a health check path beyond ASCII, with a query', options({ healthCheck: { path: '/größe/日?k=ü' } })],
  ['a health check path with a fragment', options({ healthCheck: { path: '/h#a' } }), at('/healthCheck/path')],
  ['a health check path with a blank', options({ healthCheck: { path: '/h a' } }), at('/healthCheck/path')],
  ['a health check path with half an escape', options({ healthCheck: { path: '/h%2' } }), at('/healthCheck/path')],
  ['a health check path without /', options({ healthCheck: { path: 'h' } }), at('/healthCheck/path')],
  [
    'a health check of a bad interval',
    options({ healthCheck: { path: '/', interval: '10' } }),
    at('/healthCheck/interval'),
  ],
  ['thresholds of 0', options({ healthCheck: { path: '/', unhealthyThreshold: 0, healthyThreshold: 0 } })],
  ['a breaker of zeros', options({ circuitBreaker: { maxConnections: 0, maxRetries: 0, failureThreshold: 0 } })],
  ['a breaker of a negative cap', options({ circuitBreaker: { maxRequests: -1 } }), at('/circuitBreaker/maxRequests')],
  ['ejection of 100 percent', options({ outlierDetection: { maxEjectionPercent: 100 } })],
  [
    'ejection of 101 percent',
    options({ outlierDetection: { maxEjectionPercent: 101 } }),
    at('/outlierDetection/maxEjectionPercent'),
  ],
]);

describeRows('destinations: discovery, tls, the rest (contract.md §2.3.1, §2.3.7)', 'destinations', [
  ['discovery by kubernetes', options({ discovery: { type: 'kubernetes' } })],
  ['discovery by something else', options({ discovery: { type: 'consul' } }), at('/discovery/type')],
  ['an unknown tls mode', options({ tls: { mode: 'ssl' } }), at('/tls/mode')],
  ['mtls without cert and key', options({ tls: { mode: 'mtls' } }), at('/tls/cert', '/tls/key')],
  ['mtls without key', options({ tls: { mode: 'mtls', cert: 'c', key: '' } }), at('/tls/key')],
  ['mtls with cert and key', options({ tls: { mode: 'mtls', cert: 'c', key: 'k' } })],
  ['tls without cert', options({ tls: { mode: 'tls', sni: 'a.example' } })],
  [
    'names of the upstream',
    options({
      tls: {
        mode: 'tls',
        subjectAltNames: [
          { type: 'dns', value: '*.a.example' },
          { type: 'uri', value: 'spiffe://a/b' },
        ],
      },
    }),
  ],
  [
    'names of the upstream of no kind and of another kind',
    options({
      tls: {
        subjectAltNames: [
          { type: 'ip', value: 'a' },
          { type: 'uri', value: 'a b' },
        ],
      },
    }),
    at('/tls/subjectAltNames/0/type', '/tls/subjectAltNames/1/value'),
  ],
  [
    'a name of the upstream that is a URI and said to be a host',
    options({ tls: { subjectAltNames: [{ type: 'dns', value: 'spiffe://a/b' }] } }),
    at('/tls/subjectAltNames/0/value'),
  ],
  [
    'discovery that finds nothing, by another word',
    options({ discovery: { whenEmpty: 'all' } }),
    at('/discovery/whenEmpty'),
  ],
  ['an unknown tls version', options({ tls: { maxVersion: 'TLSv2' } }), at('/tls/maxVersion')],
  ['tls min above max', options({ tls: { minVersion: 'TLSv1_3', maxVersion: 'TLSv1_2' } }), at('/tls/maxVersion')],
  [
    'all timeouts',
    options({
      timeouts: {
        request: '0s',
        connect: '1s',
        dualStackFallback: '0',
        tlsHandshake: '1s',
        responseHeader: '1m',
        expectContinue: '1s',
        idleConnection: '1h',
      },
    }),
  ],
  ['a bad timeout', options({ timeouts: { connect: 'soon' } }), at('/timeouts/connect')],
]);

describeRows('destinations: lenient forms (protocols.md §6)', 'destinations', [
  ['no form', options({ lenient: [] })],
  [
    'every form',
    options({
      lenient: ['bareLf', 'duplicateContentLength', 'spaceBeforeColon', 'paddedChunkSize', 'controlBytes'],
    }),
  ],
  ['an unknown form', options({ lenient: ['bareLf', 'bareCr'] }), at('/lenient/1')],
  ['a text in place of the list', options({ lenient: 'bareLf' }), at('/lenient')],
]);
