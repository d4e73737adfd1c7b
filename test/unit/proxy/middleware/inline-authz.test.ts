import { expect } from 'chai';
import type { InlineAuthzConfig } from '../../../../src/model/middleware/inline-authz-options.ts';
import { buildInlineAuthz } from '../../../../src/proxy/middleware/inline-authz.ts';
import { ask, StubExchange } from '../../../support/stub-exchange.ts';

const get = { cel: 'request.method == "GET"', action: 'allow' } as const;
const admin = { cel: 'request.path.startsWith("/admin")', action: 'deny' } as const;
const broken = { cel: 'request.headers["x-none"] == "a"', action: 'allow' } as const;
const always = { cel: 'true', action: 'allow' } as const;

describe('middleware inlineAuthz (contract.md §8.8)', () => {
  const status = (config: InlineAuthzConfig, method = 'GET', path = '/') => {
    const reply = ask(buildInlineAuthz(config), new StubExchange({ method, path }));
    return reply instanceof Promise ? -1 : reply?.status;
  };

  it('the first rule that is true decides', () => {
    expect(status({ rules: [admin, get] }, 'GET', '/admin')).to.equal(403);
    expect(status({ rules: [get, admin] }, 'GET', '/admin')).to.equal(undefined);
  });

  it('an evaluation error is no match', () => {
    expect(status({ rules: [broken] })).to.equal(403);
    expect(status({ rules: [broken, always] })).to.equal(undefined);
  });

  it('none: defaultAction, which is deny', () => {
    expect(status({ rules: [get] }, 'PUT')).to.equal(403);
    expect(status({ rules: [get], defaultAction: 'deny' }, 'PUT')).to.equal(403);
    expect(status({ rules: [get], defaultAction: 'allow' }, 'PUT')).to.equal(undefined);
  });

  it('a denial is denyStatus, JSON, denyBody verbatim', () => {
    const reply = (config: InlineAuthzConfig) => ask(buildInlineAuthz(config), new StubExchange({ method: 'PUT' }));
    const fields = ['Content-Type', 'application/json'];
    expect(reply({ rules: [get] })).to.deep.equal({ status: 403, fields, body: '{"error":"access denied"}' });
    const own = { rules: [get], denyStatus: 451, denyBody: 'no' };
    expect(reply(own)).to.deep.equal({ status: 451, fields, body: 'no' });
  });

  it('a rule that does not compile is not left out', () => {
    expect(() => buildInlineAuthz({ rules: [{ cel: 'request.nothing', action: 'deny' }, always] })).to.throw('cel');
  });

  it('knows which bodies it needs', () => {
    expect(buildInlineAuthz({ rules: [get] }).needsBody).to.equal(false);
    const body = { cel: 'request.body.raw == "a"', action: 'allow' } as const;
    expect(buildInlineAuthz({ rules: [get, body] }).needsBody).to.equal(true);
  });
});
