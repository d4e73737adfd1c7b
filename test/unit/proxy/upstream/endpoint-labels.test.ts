import { expect } from 'chai';
import type { Destination } from '../../../../src/model/destination.ts';
import { markHidden } from '../../../../src/model/hidden.ts';
import { endpointsOf } from '../../../../src/proxy/upstream/endpoint-address.ts';

describe('labels of endpoints', () => {
  const shown = (destination: Partial<Destination>, ...pointers: string[]): string[] => {
    const destinations = [{ id: 'd', name: 'd', host: 'own.test', port: 80, ...destination }];
    const snapshot = { listeners: [], destinations, routes: [], groups: [], middlewares: [] };
    const secrets = pointers.map((pointer) => `/snapshot/destinations/0${pointer}`);
    const config = { index: 1, id: 's', name: 's', createdAt: '', snapshot, secrets } as never;
    const [marked] = markHidden(config).snapshot.destinations;
    return marked === undefined ? [] : endpointsOf(marked).map(({ name, label }) => `${name} ${label}`);
  };

  it('are their names, unless the host came from a secret', () => {
    expect(shown({})).to.deep.equal(['own.test:80 own.test:80']);
    expect(shown({}, '/host')).to.deep.equal(['own.test:80 ***:80']);
    expect(shown({ host: '[::1]' }, '/options/tls/key')).to.deep.equal(['[::1]:80 [::1]:80']);
  });

  it('tell listed endpoints with hidden hosts apart', () => {
    const endpoints = [
      { host: 'a.test', port: 1 },
      { host: 'b.test', port: 1 },
      { host: 'c.test', port: 1 },
    ];
    expect(shown({ endpoints }, '/endpoints/0/host', '/endpoints/2/host', '/host')).to.deep.equal([
      'a.test:1 ***-1:1',
      'b.test:1 b.test:1',
      'c.test:1 ***-3:1',
    ]);
  });
});
