import { expect } from 'chai';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import { idleBindings } from '../../../src/snapshot/idle-bindings.ts';

describe('bindings that no connection follows', () => {
  it('are named, of stream routes to HTTP and of routes and groups to TCP', () => {
    const forward = { destinations: [{ destinationId: 'd' }] };
    const configuration = {
      listeners: [
        { id: 'tcp', name: 'tcp', port: 1, protocol: 'tcp' },
        { id: 'web', name: 'web', port: 2 },
      ],
      destinations: [],
      routes: [{ id: 'r', name: 'r', listenerIds: ['web', 'tcp'] }],
      groups: [{ id: 'g', name: 'g', listenerIds: ['tcp/x'] }],
      middlewares: [],
      streamRoutes: [{ id: 's', name: 's', match: { listenerIds: ['tcp', 'web/x', 'gone'] }, forward }],
    } as unknown as Configuration;
    expect(idleBindings(configuration)).to.deep.equal([
      {
        pointer: '/streamRoutes/s/match/listenerIds/1',
        message: 'names listener "web" of protocol http, where a streamRoute serves nothing',
      },
      {
        pointer: '/routes/r/listenerIds/1',
        message: 'names listener "tcp" of protocol tcp, where a route serves nothing',
      },
      {
        pointer: '/groups/g/listenerIds/0',
        message: 'names listener "tcp" of protocol tcp, where a group serves nothing',
      },
    ]);
    expect(
      idleBindings({ ...configuration, listeners: configuration.listeners.slice(1), streamRoutes: [] }),
    ).to.deep.equal([]);
  });
});
