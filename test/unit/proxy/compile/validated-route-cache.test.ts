import { expect } from 'chai';
import type { Middleware } from '../../../../src/model/middleware.ts';
import type { Route } from '../../../../src/model/route.ts';
import { problemsInSteps } from '../../../../src/proxy/compile/compile.ts';
import { ValidatedRoutes } from '../../../../src/proxy/compile/validated-route-cache.ts';
import { seededRandom } from '../../../support/random.ts';
import { aGroup, aRoute, compiled, configurationOf, type Routing } from '../../../support/routing.ts';
import { Draw } from '../match/random-table.ts';

const canRun = () => true;

function problemsOf(routing: Routing, validated: ValidatedRoutes) {
  const steps = problemsInSteps(configurationOf(routing), { canRun, validated });
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

describe('a check that remembers validated routes', () => {
  it('names what a compilation from nothing names, along random changes', () => {
    const draw = new Draw(seededRandom(5));
    const validated = new ValidatedRoutes();
    const middleware = (id: string): Middleware => ({ id, name: id, type: 'headers' });
    const route = (id: string): Route =>
      aRoute(id, draw.of([{ pathPrefix: '/a' }, { pathRegex: '(' }, { cel: '1 +' }]), {
        middlewareIds: draw.some(['m', 'n', 'gone'], 2),
      });
    const group = (id: string) =>
      aGroup(id, draw.some(['r0', 'r1', 'r2', 'r3'], 3), draw.of([{}, { pathRegex: 'a)(' }, { middlewareIds: ['n'] }]));
    let routes = ['r0', 'r1', 'r2', 'r3', 'r4'].map(route);
    let groups = [group('g'), group('h')];
    let middlewares = ['m', 'n'].map(middleware);
    for (let step = 0; step < 300; step++) {
      const at = draw.below(5);
      const what = draw.of(['route', 'route', 'group', 'middlewares']);
      if (what === 'route') routes = routes.with(at, route(`r${at}`));
      else if (what === 'group') groups = groups.with(at % 2, group(at % 2 === 0 ? 'g' : 'h'));
      else middlewares = draw.chance(0.5) ? ['m', 'n'].map(middleware) : [middleware('m')];
      const routing = { routes, groups, middlewares };
      expect(problemsOf(routing, validated)).to.deep.equal(compiled(routing).problems);
    }
  });

  it('looks at what has changed alone', () => {
    const validated = new ValidatedRoutes();
    let reads = 0;
    const counted = (route: Route): Route =>
      Object.defineProperty({ ...route }, 'match', { enumerable: true, get: () => ++reads && { pathPrefix: '/' } });
    const routes = ['a', 'b', 'c'].map((id) => counted(aRoute(id)));
    problemsOf({ routes }, validated);
    const first = reads;
    problemsOf({ routes }, validated);
    expect([first > 0, reads]).to.deep.equal([true, first]);
    problemsOf({ routes: [...routes.slice(1), counted(aRoute('d'))] }, validated);
    expect(reads).to.equal(first + first / 3);
  });
});
