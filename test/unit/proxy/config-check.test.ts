import { expect } from 'chai';
import { checkConfig } from '../../../src/proxy/config-check.ts';

const empty = { listeners: [], destinations: [], routes: [], groups: [], middlewares: [] };
const directResponse = { status: 200 };
const pointers = (list: readonly { pointer: string }[]) => list.map(({ pointer }) => pointer);

describe('the check of a configuration', () => {
  it('refuses regexes that do not compile and names each', async () => {
    const routes = [
      { id: 'a', name: 'a', match: { pathRegex: '(' }, directResponse },
      { id: 'b', name: 'b', match: { headers: [{ name: 'x', value: '[', regex: true }] }, directResponse },
    ];
    const { problems } = await checkConfig({ ...empty, routes });
    expect(pointers(problems)).to.deep.equal(['/routes/a/match/pathRegex', '/routes/b/match/headers/0/value']);
  });

  it('refuses a middleware that does not exist', async () => {
    const { problems } = await checkConfig({
      ...empty,
      routes: [{ id: 'a', name: 'a', middlewareIds: ['gone'], directResponse }],
    });
    expect(pointers(problems)).to.deep.equal(['/routes/a/middlewareIds/0']);
  });

  it('warns of what is not built, and leaves what dangles to those who look for it', async () => {
    const { problems, warnings } = await checkConfig({
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
