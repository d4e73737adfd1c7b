import { expect } from 'chai';
import { MiddlewareBed } from '../../support/middleware-bed.ts';
import { rawExchange } from '../../support/proxy-bed.ts';
import { inAnHour, jwksOf, signerOf, tokenOf } from '../../support/tokens.ts';

const signer = signerOf('ES256');

describe('fields that Connection names', () => {
  const bed = new MiddlewareBed();
  after(() => bed.end());

  const statusOf = async (...lines: string[]): Promise<number> => {
    const head = ['GET /a HTTP/1.1', 'Host: shop.test', 'Connection: close', ...lines];
    return Number((await rawExchange(bed.port, `${head.join('\r\n')}\r\n\r\n`)).split(' ', 2)[1]);
  };

  it('satisfy no rule that allows, as the upstream does not get them', async () => {
    const rules = [{ cel: 'request.headers["x-tenant"] == "public"', action: 'allow' }] as const;
    await bed.serve([{ type: 'inlineAuthz', inlineAuthz: { rules } }]);
    expect(await statusOf('X-Tenant: public')).to.equal(200);
    expect(await statusOf('X-Tenant: public', 'Connection: X-Tenant')).to.equal(403);
    expect(await statusOf('Connection: x-tenant, keep-alive', 'X-Tenant: public')).to.equal(403);
    expect(bed.reached.length).to.equal(1);
  });

  it('carry no token', async () => {
    const token = tokenOf(signer, { iss: 'i', exp: inAnHour() });
    await bed.serve([{ type: 'jwt', jwt: { issuer: 'i', jwksInline: jwksOf(signer.jwk), forwardJwt: true } }]);
    expect(await statusOf(`Authorization: Bearer ${token}`)).to.equal(200);
    expect(await statusOf(`Authorization: Bearer ${token}`, 'Connection: authorization')).to.equal(401);
  });

  it('match no route', async () => {
    await bed.serve([], { route: { match: { headers: [{ name: 'x-tenant', value: 'public' }] } } });
    expect(await statusOf('X-Tenant: public')).to.equal(200);
    expect(await statusOf('X-Tenant: public', 'Connection: x-tenant')).to.equal(404);
  });

  it('take no field away that a middleware sets, nor the host', async () => {
    const add = { requestHeadersToAdd: [{ key: 'X-Edge', value: 'v1' }] };
    await bed.serve([{ type: 'headers', headers: add }]);
    expect(await statusOf('Connection: x-edge, host', 'X-Edge: forged')).to.equal(200);
    const { headers } = bed.reached.at(-1) ?? {};
    expect(headers).to.include({ 'x-edge': 'v1', host: 'shop.test' });
  });
});
