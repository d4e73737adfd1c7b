import { describeRows, groupBody } from '../../support/entities.ts';

const bool = 'request.method == "GET"';

describeRows('groups (contract.md §2.5, §2.11)', 'groups', [
  ['a name and a path (§12 row 10)', groupBody({ pathPrefix: '/api' })],
  ['pathPrefix with pathRegex', groupBody({ pathPrefix: '/a', pathRegex: '/b' }), ['/pathRegex']],
  ['a pathPrefix with a query', groupBody({ pathPrefix: '/a?b' }), ['/pathPrefix']],
  ['a pathPrefix with a fragment', groupBody({ pathPrefix: '/a#b' }), ['/pathPrefix']],
  ['a bad pathRegex', groupBody({ pathRegex: '[' }), ['/pathRegex']],
  ['a header without name', groupBody({ headers: [{ value: 'x' }] }), ['/headers/0/name']],
  [
    'a bad override',
    groupBody({ middlewareOverrides: { m: { skipWhen: [bool], onlyWhen: [bool] } } }),
    ['/middlewareOverrides/m/onlyWhen'],
  ],
  [
    'a bad retryDefault',
    groupBody({ retryDefault: { on: ['x'], perAttemptTimeout: '-1s' } }),
    ['/retryDefault/on/0', '/retryDefault/perAttemptTimeout'],
  ],
  ['listenerIds', groupBody({ listenerIds: ['public', 'internal/shop'] })],
  ['listenerIds that are none', groupBody({ listenerIds: ['a b'] }), ['/listenerIds/0']],
  ['a retryDefault', groupBody({ retryDefault: { attempts: 1 }, includeAttemptCount: true })],
]);
