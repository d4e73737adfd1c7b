import { expect } from 'chai';
import { findReferences, replaceReferences } from '../../../src/model/secret-reference.ts';
import { parseEntity, validateResolved } from '../../../src/model/validation.ts';
import {
  destinationBody,
  forwardTo,
  listenerBody,
  middlewareBody,
  problemsWith,
  routeBody,
} from '../../support/entities.ts';

const secret = (name: string) => `{{secret:env:${name}}}`;

describe('bodies with secret references (contract.md §0.2 J12)', () => {
  const bodies = {
    listeners: listenerBody({
      address: secret('A'),
      serverName: secret('B'),
      tls: { cert: secret('C'), key: secret('D'), minVersion: secret('E') },
      timeouts: { clientHeader: secret('F') },
      trustedProxies: [secret('G'), '10.0.0.0/8'],
      proxyErrors: secret('H'),
    }),
    destinations: destinationBody({ host: `a.${secret('A')}`, options: { healthCheck: { path: secret('B') } } }),
    routes: routeBody({
      match: { pathRegex: `(${secret('A')}`, cel: `request.method == ${secret('B')}`, hostnames: [secret('C')] },
      forward: { ...forwardTo(secret('D')), timeouts: { request: secret('E') } },
    }),
    middlewares: middlewareBody('cors', { allowOrigins: [{ value: `^${secret('A')}(`, regex: true }] }),
  } as const;

  for (const [kind, body] of Object.entries(bodies) as [keyof typeof bodies, object][]) {
    it(`pass without a look at their formats: ${kind}`, () => {
      expect(problemsWith(kind, body)).to.deep.equal([]);
    });

    it(`are judged once their references are resolved: ${kind}`, () => {
      const { entity } = parseEntity(kind, body);
      const found = findReferences(entity);
      expect(found.length).to.be.above(0);
      const problems = validateResolved(
        kind,
        replaceReferences(entity, () => '\u0007('),
      );
      const judged = found.filter(({ pointer }) => !/\/(cert|key)$/.test(pointer)).map(({ pointer }) => pointer);
      expect([...new Set(problems.map(({ pointer }) => pointer))]).to.have.members(judged);
    });
  }

  it('keep their types: a reference is no number', () => {
    expect(problemsWith('listeners', listenerBody({ port: secret('PORT') }))).to.deep.equal([
      '/port must be a finite number',
    ]);
  });

  it('may not have one in the id, which is used as it stands', () => {
    expect(problemsWith('listeners', listenerBody({ id: secret('ID') }))).to.have.length(1);
  });

  it('are judged when the text only looks like one', () => {
    expect(problemsWith('routes', routeBody({ match: { pathRegex: '({secret:env:A}' } }))).to.have.length(1);
  });
});
