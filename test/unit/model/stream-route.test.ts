import { describeRows } from '../../support/entities.ts';

const forward = { destinations: [{ destinationId: 'd' }] };
const match = (value: object) => ({ name: 's', match: value, forward });
const weights = (...list: readonly (number | undefined)[]) => ({
  name: 's',
  forward: { destinations: list.map((weight) => ({ destinationId: 'd', weight })) },
});

describeRows('stream routes: match (contract.md §2.12)', 'streamRoutes', [
  ['none', { name: 's', forward }],
  ['an empty one', match({})],
  ['a listener and a section', match({ listenerIds: ['tcp', 'tcp/db'] })],
  ['a section of a section', match({ listenerIds: ['tcp/db/x'] }), ['/match/listenerIds/0']],
  ['an exact and a wildcard name', match({ sni: ['db.example.com', '*.example.com', 'DB.Example.COM.'] })],
  ['a star alone', match({ sni: ['*'] }), ['/match/sni/0']],
  ['a star within a name', match({ sni: ['a', 'db.*.com'] }), ['/match/sni/1']],
  ['an address, which no client asks for', match({ sni: ['10.0.0.1'] }), ['/match/sni/0']],
  ['ranges of addresses', match({ clientCidrs: ['10.0.0.0/8', 'fd00::/8', '192.0.2.7'] })],
  ['a range with too many bits', match({ clientCidrs: ['10.0.0.0/33'] }), ['/match/clientCidrs/0']],
  ['a misspelt field', match({ hostnames: ['x'] }), ['/match/hostnames']],
]);

describeRows('stream routes: forward (contract.md §2.12)', 'streamRoutes', [
  ['none', { name: 's' }, ['/forward']],
  ['no destination', { name: 's', forward: { destinations: [] } }, ['/forward/destinations']],
  ['an entry without id', { name: 's', forward: { destinations: [{}] } }, ['/forward/destinations/0/destinationId']],
  ['one of weight 0', weights(0)],
  ['two of which one is 0', weights(0, 1)],
  ['two of weight 0', weights(0, undefined), ['/forward/destinations']],
  ['a weight above the largest', weights(1, 1_000_001), ['/forward/destinations/1/weight']],
  ['an idle time', { name: 's', forward: { ...forward, timeouts: { idle: '0' } } }],
  [
    'an idle time that is none',
    { name: 's', forward: { ...forward, timeouts: { idle: 'x' } } },
    ['/forward/timeouts/idle'],
  ],
]);

const listener = (value: object) => ({ name: 'l', port: 1, ...value });

describeRows('listeners: protocol and mode of TLS (contract.md §2.2)', 'listeners', [
  ['tcp without TLS', listener({ protocol: 'tcp' })],
  ['another protocol', listener({ protocol: 'udp' }), ['/protocol']],
  ['passthrough with tcp', listener({ protocol: 'tcp', tls: { mode: 'passthrough' } })],
  ['passthrough with http', listener({ tls: { mode: 'passthrough' } }), ['/tls/mode']],
  [
    'passthrough with a certificate',
    listener({ protocol: 'tcp', tls: { mode: 'passthrough', cert: 'c', key: 'k' } }),
    ['/tls/cert', '/tls/key'],
  ],
  [
    'passthrough with versions',
    listener({ protocol: 'tcp', tls: { mode: 'passthrough', minVersion: 'TLSv1_2' } }),
    ['/tls/minVersion'],
  ],
  ['terminate with tcp', listener({ protocol: 'tcp', tls: { mode: 'terminate', cert: 'c', key: 'k' } })],
  [
    'terminate without a certificate',
    listener({ protocol: 'tcp', tls: { mode: 'terminate' } }),
    ['/tls/cert', '/tls/key'],
  ],
  ['no mode without a certificate', listener({ tls: {} }), ['/tls/cert', '/tls/key']],
  ['another mode', listener({ tls: { mode: 'off', cert: 'c', key: 'k' } }), ['/tls/mode']],
  ['tcp with HTTP/2', listener({ protocol: 'tcp', http2: true }), ['/http2']],
]);

const destination = (options: object) => ({ name: 'd', host: 'h', port: 1, options });

describeRows('destinations: PROXY protocol (contract.md §2.3.1)', 'destinations', [
  ['version 1', destination({ proxyProtocol: 'v1' })],
  ['version 2', destination({ proxyProtocol: 'v2' })],
  ['another version', destination({ proxyProtocol: 'v3' }), ['/options/proxyProtocol']],
  ['with HTTP/2', destination({ proxyProtocol: 'v2', http2: true }), ['/options/proxyProtocol']],
]);
