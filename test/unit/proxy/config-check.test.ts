import { expect } from 'chai';
import { checkConfig } from '../../../src/proxy/config-check.ts';

const empty = { listeners: [], destinations: [], routes: [], groups: [], middlewares: [] };
const pointers = (list: readonly { pointer: string }[]) => list.map(({ pointer }) => pointer);

describe('the check of a configuration', () => {
  it('refuses regexes that do not compile and names each', () => {
    const routes = [
      { id: 'a', name: 'a', match: { pathRegex: '(' } },
      { id: 'b', name: 'b', match: { headers: [{ name: 'x', value: '[', regex: true }] } },
    ];
    const { problems } = checkConfig({ ...empty, routes });
    expect(pointers(problems)).to.deep.equal(['/routes/a/match/pathRegex', '/routes/b/match/headers/0/value']);
  });

  it('refuses a middleware that does not exist', () => {
    const { problems } = checkConfig({ ...empty, routes: [{ id: 'a', name: 'a', middlewareIds: ['gone'] }] });
    expect(pointers(problems)).to.deep.equal(['/routes/a/middlewareIds/0']);
  });

  it('warns of what is not built, and leaves what dangles to those who look for it', () => {
    const { problems, warnings } = checkConfig({
      ...empty,
      listeners: [{ id: 'l', name: 'l', port: 1, tls: { cert: 'c', key: 'k' } }],
      destinations: [{ id: 'd', name: 'd', host: 'h', port: 1, options: { http2: true } }],
      routes: [{ id: 'a', name: 'a', forward: { destinations: [{ destinationId: 'gone' }] } }],
      groups: [{ id: 'g', name: 'g', routeIds: ['none'] }],
    });
    expect(problems).to.deep.equal([]);
    expect(pointers(warnings)).to.deep.equal(['/listeners/l/tls', '/destinations/d/options/http2']);
  });
});
