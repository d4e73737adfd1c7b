// Sections of listeners and routes bound to them.
import { expect } from 'chai';
import type { ListenerSection } from '../../../../src/model/listener-section.ts';
import { ServedListener } from '../../../../src/proxy/match/served-listener.ts';
import { ServedListeners } from '../../../../src/proxy/match/served-listeners.ts';
import type { Sent } from '../../../support/routed-request.ts';
import { aGroup, aRoute, type Routing, tableOf, winner } from '../../../support/routing.ts';

const listener = (id: string, port: number, ...sections: readonly ListenerSection[]): ServedListener =>
  new ServedListener({ id, name: `${id}-name`, port, sections });

const web = listener(
  'web',
  443,
  { name: 'shop', hostnames: ['shop.test'] },
  { name: 'sub', hostnames: ['*.shop.test'] },
  { name: 'deep', hostnames: ['*.eu.shop.test', '10.0.0.1'] },
  { name: 'rest' },
);
const plain = listener('plain', 80);
const few = listener('few', 81, { name: 'only', hostnames: ['only.test'] });

const won = (routing: Routing, sent: Sent): string | undefined => winner(tableOf(routing), sent);

describe('a section of a listener', () => {
  for (const [authority, section] of [
    ['shop.test', 'shop'],
    ['SHOP.test.:8443', 'shop'],
    ['a.shop.test', 'sub'],
    ['a.b.shop.test', 'sub'],
    ['eu.shop.test', 'sub'],
    ['a.eu.shop.test', 'deep'],
    ['10.0.0.1', 'deep'],
    ['other.test', 'rest'],
    ['', 'rest'],
  ] as const) {
    it(`gets ${authority || 'no host'} as ${section}`, () => {
      const routes = ['shop', 'sub', 'deep', 'rest'].map((name) => aRoute(name, {}, { listenerIds: [`web/${name}`] }));
      expect(won({ routes }, { authority, listener: web })).to.equal(section);
    });
  }

  it('does not fall through to a section with a less specific host', () => {
    const routes = [
      aRoute('rest', {}, { listenerIds: ['web/rest'] }),
      aRoute('api', { path: '/api' }, { listenerIds: ['web/shop'] }),
    ];
    expect(won({ routes }, { authority: 'shop.test', listener: web, target: '/other' })).to.equal(undefined);
    expect(won({ routes }, { authority: 'shop.test', listener: web, target: '/api' })).to.equal('api');
  });

  it('is none for a host that no section has: not even a route of all listeners serves it', () => {
    const routes = [aRoute('all'), aRoute('few', {}, { listenerIds: ['few'] })];
    expect(won({ routes }, { authority: 'else.test', listener: few })).to.equal(undefined);
    expect(won({ routes }, { authority: 'only.test', listener: few })).to.equal('all');
  });
});

describe('routes bound to listeners', () => {
  it('are served by those alone', () => {
    const routes = [aRoute('internal', {}, { listenerIds: ['plain'] })];
    expect(won({ routes }, { listener: plain })).to.equal('internal');
    expect(won({ routes }, { listener: few, authority: 'only.test' })).to.equal(undefined);
    expect(won({ routes }, {})).to.equal(undefined);
  });

  it('of a listener are in every section of it', () => {
    const routes = [aRoute('web', {}, { listenerIds: ['web'] })];
    for (const authority of ['shop.test', 'a.shop.test', 'other.test'])
      expect(won({ routes }, { authority, listener: web }), authority).to.equal('web');
  });

  it('rank among routes of all listeners by the usual order', () => {
    const routes = [
      aRoute('all', { pathPrefix: '/a' }),
      aRoute('bound', {}, { listenerIds: ['web'] }),
      aRoute('section', { pathPrefix: '/a' }, { listenerIds: ['web/shop'], priority: 1 }),
    ];
    const sent = { authority: 'shop.test', target: '/a' };
    expect(won({ routes }, { ...sent, listener: web })).to.equal('section');
    expect(won({ routes: routes.slice(0, 2) }, { ...sent, listener: web })).to.equal('all');
    expect(won({ routes: routes.slice(0, 2) }, { ...sent, listener: web, target: '/' })).to.equal('bound');
  });

  it('serve nowhere when all their listeners are gone', () => {
    const routes = [aRoute('gone', {}, { listenerIds: ['gone', 'web/gone'] })];
    for (const each of [web, plain]) expect(won({ routes }, { listener: each })).to.equal(undefined);
  });

  it('in a group serve where both are bound', () => {
    const groups = [aGroup('g', ['r', 'both', 'other'], { listenerIds: ['web', 'plain'] })];
    const routes = [
      aRoute('r', { path: '/r' }),
      aRoute('both', { path: '/both' }, { listenerIds: ['web/shop'] }),
      aRoute('other', { path: '/other' }, { listenerIds: ['few'] }),
    ];
    const at = (target: string, on: ServedListener, authority = 'shop.test') =>
      won({ routes, groups }, { target, authority, listener: on });
    expect([at('/r', web), at('/r', plain), at('/r', few, 'only.test')]).to.deep.equal(['r', 'r', undefined]);
    expect([at('/both', web), at('/both', plain), at('/both', web, 'a.shop.test')]).to.deep.equal([
      'both',
      undefined,
      undefined,
    ]);
    expect([at('/other', web), at('/other', few, 'only.test')]).to.deep.equal([undefined, undefined]);
  });

  it('by match.port get requests of listeners with that port for any port of Host', () => {
    const routes = [aRoute('tls', { port: 443 }), aRoute('any')];
    expect(won({ routes }, { listener: web, authority: 'shop.test:80' })).to.equal('tls');
    expect(won({ routes }, { listener: plain, authority: 'shop.test:443' })).to.equal('any');
    expect(won({ routes }, {})).to.equal('any');
  });

  it('by expression see the listener', () => {
    const cel = 'request.listener.id == "web" && request.listener.section == "sub" && request.listener.port == 443';
    const routes = [
      aRoute('cel', { cel: `${cel} && request.listener.name.startsWith("web-") && has(request.listener)` }),
      aRoute('any'),
    ];
    expect(won({ routes }, { listener: web, authority: 'a.shop.test' })).to.equal('cel');
    expect(won({ routes }, { listener: web, authority: 'shop.test' })).to.equal('any');
    expect(won({ routes }, { listener: plain, authority: 'a.shop.test' })).to.equal('any');
  });
});

describe('the listener at a place', () => {
  it('is the one with the id of the open port, else the first there', () => {
    const listeners = ['a', 'b', 'c'].map((id) => ({ id, name: id, port: id === 'c' ? 81 : 80 }));
    const served = new ServedListeners(listeners, ({ port }) => `0.0.0.0:${port}`);
    expect(served.at('0.0.0.0:80', 'b')?.id).to.equal('b');
    expect(served.at('0.0.0.0:80', 'c')?.id).to.equal('a');
    expect(served.at('0.0.0.0:81', 'gone')?.id).to.equal('c');
    expect(served.at('0.0.0.0:82', 'a')).to.equal(undefined);
  });
});
