import { expect } from 'chai';
import type { EditableKind } from '../../../src/model/kinds.ts';
import { configurationOf } from '../../../src/snapshot/build.ts';
import { findDangling } from '../../../src/snapshot/dangling.ts';
import { drain } from '../../../src/util/time-slice.ts';
import { staged } from '../../support/staged.ts';

const findings = (specs: Partial<Record<EditableKind, Record<string, object>>>) =>
  drain(findDangling(configurationOf({ entities: staged(specs).entities, values: {} })));

describe('ids that lead nowhere', () => {
  it('are no finding when everything exists', () => {
    const all = findings({
      destinations: { d: {} },
      middlewares: { m: { type: 'jwt', jwt: { jwksDestinationId: 'd' } } },
      routes: {
        r: {
          forward: { destinations: [{ destinationId: 'd' }], mirror: { destinationId: 'd' } },
          middlewareIds: ['m'],
        },
      },
      groups: { g: { routeIds: ['r'], middlewareIds: ['m'] } },
    });
    expect(all).to.deep.equal({ problems: [], warnings: [] });
  });

  it('are warnings for destinations and routes', () => {
    const { problems, warnings } = findings({
      destinations: { d: {} },
      routes: {
        r: {
          forward: { destinations: [{ destinationId: 'd' }, { destinationId: 'x' }], mirror: { destinationId: 'y' } },
        },
      },
      groups: { g: { routeIds: ['r', 'z'] } },
    });
    expect(problems).to.deep.equal([]);
    expect(warnings).to.deep.equal([
      {
        pointer: '/routes/r/forward/destinations/1/destinationId',
        message: 'names destination "x", which does not exist',
      },
      { pointer: '/routes/r/forward/mirror/destinationId', message: 'names destination "y", which does not exist' },
      { pointer: '/groups/g/routeIds/1', message: 'names route "z", which does not exist' },
    ]);
  });

  it('are warnings for several mirrors, and none for fixed answers', () => {
    const mirrors = [{ destinationId: 'd' }, { destinationId: 'y' }];
    const destinations = [{ destinationId: 'd' }, { directResponse: { status: 503 }, weight: 1 }];
    const { problems, warnings } = findings({
      destinations: { d: {} },
      routes: { r: { forward: { destinations, mirrors } } },
    });
    expect(problems).to.deep.equal([]);
    expect(warnings).to.deep.equal([
      { pointer: '/routes/r/forward/mirrors/1/destinationId', message: 'names destination "y", which does not exist' },
    ]);
  });

  it('are warnings for listeners and for sections of them', () => {
    const { problems, warnings } = findings({
      listeners: { public: { port: 80, sections: [{ name: 'shop' }] } },
      routes: { r: { listenerIds: ['public', 'public/shop', 'public/stop', 'shop', 'internal/shop'] } },
      groups: { g: { listenerIds: ['gone', 'public'] } },
    });
    expect(problems).to.deep.equal([]);
    expect(warnings).to.deep.equal([
      { pointer: '/routes/r/listenerIds/2', message: 'names listener "public/stop", which does not exist' },
      { pointer: '/routes/r/listenerIds/3', message: 'names listener "shop", which does not exist' },
      { pointer: '/routes/r/listenerIds/4', message: 'names listener "internal/shop", which does not exist' },
      { pointer: '/groups/g/listenerIds/0', message: 'names listener "gone", which does not exist' },
    ]);
  });

  it('have a group and a route in it that share no listener named beside them', () => {
    const { warnings } = findings({
      listeners: { a: { sections: [{ name: 's' }, { name: 't' }] }, b: {} },
      routes: {
        any: {},
        both: { listenerIds: ['a/s', 'b'] },
        other: { listenerIds: ['b'] },
        t: { listenerIds: ['a/t'] },
      },
      groups: {
        g: { routeIds: ['any', 'both', 'other', 't'], listenerIds: ['a/s'] },
        h: { routeIds: ['other'] },
      },
    });
    expect(warnings.map(({ pointer }) => pointer)).to.deep.equal(['/groups/g/routeIds/2', '/groups/g/routeIds/3']);
    expect(warnings[0]?.message).to.contain('route "other", which is bound to none of the listeners of this group');
  });

  it('are problems for middlewares, each one named', () => {
    const { problems } = findings({
      routes: { r: { middlewareIds: ['x'] } },
      groups: { g: { middlewareIds: ['x', 'y'] } },
      middlewares: { m: { type: 'cors' } },
    });
    expect(problems.map(({ pointer }) => pointer)).to.deep.equal([
      '/routes/r/middlewareIds/0',
      '/groups/g/middlewareIds/0',
      '/groups/g/middlewareIds/1',
    ]);
  });

  it('count in a middleware only in the block of its type', () => {
    const gone = { destinationId: 'x' };
    const { warnings } = findings({
      middlewares: {
        a: { type: 'extAuthz', extAuthz: gone, extProc: gone },
        b: { type: 'extProc', extProc: gone },
        c: { type: 'jwt', jwt: { jwksDestinationId: 'x' } },
        d: { type: 'cors', extAuthz: gone },
      },
    });
    expect(warnings.map(({ pointer }) => pointer)).to.have.members([
      '/middlewares/a/extAuthz/destinationId',
      '/middlewares/b/extProc/destinationId',
      '/middlewares/c/jwt/jwksDestinationId',
    ]);
  });
});
