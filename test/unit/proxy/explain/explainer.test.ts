import { expect } from 'chai';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import { Explainer } from '../../../../src/proxy/explain/explainer.ts';

const configuration: Configuration = {
  listeners: [],
  destinations: [],
  groups: [],
  middlewares: [],
  routes: [{ id: 'r', name: 'r', directResponse: { status: 200 } }],
};
const question = { method: 'GET', url: '/', headers: {}, clientIp: '127.0.0.1' };

describe('an explainer', () => {
  it('compiles a configuration once for all who ask about it at the same time', async () => {
    const explainer = new Explainer();
    let built = 0;
    const configurationOf = (): Configuration => {
      built++;
      return configuration;
    };
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => explainer.explain('one', configurationOf, question)),
    );
    for (const { winner } of answers) expect(winner?.route.id).to.equal('r');
    expect(built).to.equal(1);
  });

  it('asks for the next configuration once the one before is compiled, and refuses questions when 64 wait', async () => {
    const explainer = new Explainer();
    let built = 0;
    const configurationOf = (): Configuration => {
      built++;
      return configuration;
    };
    const asked = Array.from({ length: 70 }, () => explainer.explain(undefined, configurationOf, question));
    expect(built).to.equal(0);
    const answers = await Promise.allSettled(asked);
    const refused = answers.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []));
    expect(refused).to.deep.equal(new Array(6).fill('UNAVAILABLE'));
    expect(built).to.equal(64);
    expect((await explainer.explain(undefined, configurationOf, question)).winner?.route.id).to.equal('r');
  });

  it('tries a configuration anew that did not compile', async () => {
    const explainer = new Explainer();
    const broken = { ...configuration, routes: [{ id: 'r', name: 'r', match: { pathRegex: '(' } }] } as Configuration;
    const failed = await explainer.explain('one', () => broken, question).catch((error) => error.code);
    expect(failed).to.equal('INVALID');
    expect((await explainer.explain('one', () => configuration, question)).winner?.route.id).to.equal('r');
  });
});
