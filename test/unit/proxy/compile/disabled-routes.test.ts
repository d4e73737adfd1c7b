import { expect } from 'chai';
import { findingsOf } from '../../../../src/findings/findings.ts';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import type { Route } from '../../../../src/model/route.ts';
import { aGroup, aRoute, compiled, tableOf, winner } from '../../../support/routing.ts';

const sent = { target: '/cart', authority: 'x.test' };
const general = aRoute('general', { pathPrefix: '/' });
const cart = (changes: Partial<Route> = {}): Route => aRoute('cart', { path: '/cart' }, changes);
const disabled = { disabled: true };

describe('a disabled route', () => {
  it('takes no request: the next one does', () => {
    expect(winner(tableOf({ routes: [cart(), general] }), sent)).to.equal('cart');
    expect(winner(tableOf({ routes: [cart({ disabled: false }), general] }), sent)).to.equal('cart');
    expect(winner(tableOf({ routes: [cart(disabled), general] }), sent)).to.equal('general');
    expect(winner(tableOf({ routes: [cart(disabled)] }), sent)).to.equal(undefined);
  });

  it('takes none in its groups either', () => {
    const groups = [aGroup('shop', ['cart']), aGroup('more', ['cart', 'general'])];
    expect(winner(tableOf({ routes: [cart(disabled), general], groups }), sent)).to.equal('general');
  });

  it('leaves and comes back from one activation to the next', () => {
    const steps = [{}, disabled, {}, disabled, disabled] as const;
    let memory: ReturnType<typeof compiled>['memory'] | undefined;
    const won = steps.map((changes) => {
      const made = compiled({ routes: [cart(changes), general] }, memory);
      memory = made.memory;
      return made.table && winner(made.table, sent);
    });
    expect(won).to.deep.equal(['cart', 'general', 'cart', 'general', 'general']);
  });

  it('is taken up by an edit of a large table as by a compilation of it', () => {
    const many = Array.from({ length: 200 }, (_, at) => aRoute(`r${1000 + at}`, { path: `/r${at}` }));
    const routes = (changes: object) => [cart(changes), general, ...many].sort((a, b) => (a.id < b.id ? -1 : 1));
    const first = compiled({ routes: routes(disabled) });
    const second = compiled({ routes: [...routes({})] }, first.memory);
    const third = compiled({ routes: [...routes(disabled)] }, second.memory);
    const won = [first, second, third].map(({ table }) => table && winner(table, sent));
    expect(won).to.deep.equal(['general', 'cart', 'general']);
  });

  it('is no reason for a finding about what it alone refers to, and hides none', async () => {
    const shop = { id: 'd', name: 'd', host: 'shop.test', port: 80 };
    const base = { listeners: [], groups: [], middlewares: [], destinations: [shop, { ...shop, id: 'e', name: 'e' }] };
    const idle = async (...routes: Route[]): Promise<number> => {
      const found = await findingsOf({ ...base, routes } as Configuration, { nowMs: 0 });
      return found.filter(({ rule, id }) => rule === 'shadowed-endpoint' && id === 'd').length;
    };
    const share = (destinationId: string, weight: number) => ({ destinationId, weight });
    const direct = aRoute('direct', { path: '/direct' }, { forward: { destinations: [share('d', 1)] } });
    const split = aRoute('split', { path: '/split' }, { forward: { destinations: [share('d', 0), share('e', 1)] } });
    expect(await idle(direct, split)).to.equal(0);
    expect(await idle({ ...direct, ...disabled }, split)).to.equal(1);
    expect(await idle({ ...split, ...disabled })).to.equal(0);
  });
});
