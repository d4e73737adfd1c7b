// Explanations of requests on listeners with sections.

import { expect } from 'chai';
import type { RequestExplanation } from '../../../../src/model/answers/explanation.ts';
import type { Listener } from '../../../../src/model/listener.ts';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import { Explainer } from '../../../../src/proxy/explain/explainer.ts';
import { rejection } from '../../../support/rejection.ts';
import { aGroup, aRoute, configurationOf } from '../../../support/routing.ts';

const tls = { cert: 'c', key: 'k' };
const listeners: readonly Listener[] = [
  { id: 'admin', name: 'internal', port: 8081 },
  { id: 'moved', name: 'to-https', port: 80, redirectToHttps: {} },
  {
    ...{ id: 'web', name: 'public', port: 443, tls: { ...tls, strictServerName: true } },
    sections: [
      { name: 'shop', hostnames: ['shop.test'] },
      { name: 'sub', hostnames: ['*.shop.test'] },
    ],
  },
  { id: 'behind', name: 'behind', port: 82, redirectToHttps: {}, trustedProxies: ['10.0.0.0/8'] },
  { id: 'zone', name: 'zone', port: 9443, tls },
];
const answer = { directResponse: { status: 200 } };
const configuration: Configuration = {
  ...configurationOf({
    routes: [
      aRoute('all', { pathPrefix: '/' }, answer),
      aRoute('inside', { pathPrefix: '/a' }, { ...answer, listenerIds: ['admin'], priority: 7 }),
      aRoute('shop', { pathPrefix: '/a/b' }, { ...answer, listenerIds: ['web/shop'] }),
      aRoute('split', { pathPrefix: '/a/b/c' }, { ...answer, listenerIds: ['admin'] }),
    ],
    groups: [aGroup('g', ['split'], { listenerIds: ['web'] })],
  }),
  listeners,
};

describe('an explanation', () => {
  const explained = (question: object): Promise<RequestExplanation> =>
    new Explainer().explain(undefined, () => configuration, {
      ...{ method: 'GET', url: '/a/b', headers: { host: 'shop.test' }, clientIp: '127.0.0.1' },
      ...question,
    });
  const winnerOf = async (question: object) => {
    const { listener, priority, winner } = await explained(question);
    return [listener?.id, listener?.section, winner?.route.id, priority];
  };

  it('takes the listener by id or by name, and says section and priority', async () => {
    expect(await winnerOf({ listener: 'admin' })).to.deep.equal(['admin', '', 'inside', 7]);
    expect(await winnerOf({ listener: 'internal' })).to.deep.equal(['admin', '', 'inside', 7]);
    expect(await winnerOf({ listener: 'web' })).to.deep.equal(['web', 'shop', 'shop', 0]);
    expect(await winnerOf({ listener: 'public', headers: { host: 'x.shop.test' } })).to.deep.equal([
      ...['web', 'sub', 'all', 0],
    ]);
    expect((await explained({ listener: 'web' })).listener).to.deep.equal({
      ...{ id: 'web', name: 'public', port: 443, section: 'shop' },
    });
  });

  it('takes the listener that the URL leads to without one', async () => {
    const of = async (url: string, host = 'shop.test') => (await explained({ url, headers: { host } })).listener?.id;
    expect(await of('https://shop.test/')).to.equal('web');
    expect(await of('https://shop.test:9443/')).to.equal('zone');
    expect(await of('https://shop.test:1/')).to.equal('web');
    expect(await of('http://shop.test:8081/')).to.equal('admin');
    expect(await of('/', 'shop.test:8081')).to.equal('admin');
    expect(await of('/')).to.equal('moved');
    expect(await of('/', 'shop.test:5')).to.equal('admin');
  });

  it('names the bindings of a route that is bound elsewhere', async () => {
    const { candidates } = await explained({ listener: 'web', url: '/a/b/c', headers: { host: 'y.shop.test' } });
    const failed = new Map(candidates.map(({ route, failed }) => [route.id, failed]));
    expect(failed.get('inside')).to.deep.equal({ matcher: 'listener', wanted: 'admin', found: 'web/sub' });
    expect(failed.get('shop')).to.deep.equal({ matcher: 'listener', wanted: 'web/shop', found: 'web/sub' });
    expect(failed.get('split')?.wanted).to.equal('no listener of both group and route');
    expect(candidates.map(({ route, priority }) => [route.id, priority])[0]).to.deep.equal(['inside', 7]);
  });

  it('has no winner for a host that no section has', async () => {
    const { winner, outcome, candidates } = await explained({ listener: 'web', headers: { host: 'else.test' } });
    expect([winner, outcome]).to.deep.equal([null, { action: 'error', status: 404, error: 'no_route' }]);
    expect(candidates.every(({ failed }) => failed?.matcher === 'listener')).to.equal(true);
  });

  it('answers 421 when the section of the server name is not that of the host', async () => {
    const outcome = async (sni: string) => (await explained({ listener: 'web', sni })).outcome;
    expect(await outcome('shop.test')).to.include({ action: 'directResponse' });
    expect(await outcome('x.shop.test')).to.deep.equal({ action: 'error', status: 421, error: 'misdirected_request' });
  });

  it('shows the redirect of a listener that only redirects', async () => {
    const { winner, outcome } = await explained({ listener: 'moved', url: '/a?b' });
    expect(winner).to.equal(null);
    expect(outcome).to.deep.equal({ action: 'redirect', status: 308, location: 'https://shop.test/a?b' });
  });

  it('routes what came to a trusted proxy by https, in the place of a redirect', async () => {
    const ask = async (listener: string, proto: string) => {
      const headers = { host: 'shop.test', 'X-Forwarded-Proto': proto };
      return (await explained({ listener, headers })).outcome.action;
    };
    expect(await ask('behind', 'https')).to.equal('directResponse');
    expect(await ask('behind', 'http')).to.equal('redirect');
    expect(await ask('moved', 'https')).to.equal('redirect');
  });

  it('refuses a listener that the configuration does not have, and a server name without TLS', async () => {
    expect(await rejection(explained({ listener: 'gone' }))).to.include({ code: 'INVALID' });
    expect(String(await rejection(explained({ listener: 'gone' })))).to.contain('/listener');
    expect(String(await rejection(explained({ listener: 'admin', sni: 'shop.test' })))).to.contain('/sni');
  });
});
