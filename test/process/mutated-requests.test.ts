// A small part of `npm run fuzz:policies`: mutated requests through a node with every middleware.
import { expect } from 'chai';
import { fuzzPolicies } from '../support/policy-fuzz/run.ts';

const areas = ['all', 'authz', 'body', 'grpc', 'jwt', 'limit', 'open', 'proc', 'rules'];

describe('mutated requests over both versions of HTTP', () => {
  it('get past no middleware, and harm no other client', async () => {
    const { findings, reached, statuses, bystanders } = await fuzzPolicies({
      seed: 1,
      requests: 3_000,
      connections: 16,
    });
    expect(findings).to.deep.equal([]);
    expect(Object.keys(reached).sort()).to.include.members(areas);
    const each = ['200', '400', '401', '403', '429'];
    for (const version of ['h1', 'h2']) expect(statuses).to.include.keys(each.map((status) => `${version} ${status}`));
    expect(bystanders.asked).to.be.greaterThan(20);
  });
});
