// Consumers as other middlewares, logs and explanations name them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Middleware } from '../../../../src/model/middleware.ts';
import { targetOf } from '../../../../src/proxy/exchange/target-of.ts';
import { Explainer } from '../../../../src/proxy/explain/explainer.ts';
import { requestFields } from '../../../../src/proxy/middleware/ext-proc/shown-fields.ts';
import { keyed, storedConsumers } from '../../../support/consumers.ts';
import { eventually } from '../../../support/eventually.ts';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';
import { StubExchange } from '../../../support/stub-exchange.ts';
import { TemporaryDirectories } from '../../../support/temporary-directory.ts';
import { inAnHour, jwksOf, signerOf, tokenOf } from '../../../support/tokens.ts';

const tell = {
  type: 'headers',
  headers: { requestHeadersToAdd: [{ key: 'x-consumer', value: `\${consumer.name}` }] },
} as const;
const apiKey = { type: 'apiKey', apiKey: { sources: { header: 'x-api-key', query: 'key' } } } as const;

describe('consumers', () => {
  let bed: MiddlewareBed;
  const directories = new TemporaryDirectories();
  beforeEach(() => {
    bed = new MiddlewareBed();
  });
  afterEach(async () => {
    await bed.end();
    await directories.removeAll();
  });

  it('are named by jwt, by issuer and subject of a token that it has verified', async () => {
    const by = signerOf('ES256');
    const issuer = 'https://login.example.com';
    const jwt = { type: 'jwt', jwt: { issuer, jwksInline: jwksOf(by.jwk) } } as const;
    const subject = (name: string, more: object = {}) => ({
      id: name,
      name,
      credentials: [{ type: 'jwt', issuer, subject: name, ...more }],
    });
    const consumers = storedConsumers(subject('ann'), subject('bob', { issuer: 'https://other.example.com' }));
    await bed.serve([jwt, tell], { more: { consumers } });
    const nameOf = async (claims: object) => {
      const authorization = `Bearer ${tokenOf(by, { iss: issuer, exp: inAnHour(), ...claims })}`;
      const { status } = await bed.ask({ headers: { authorization } });
      return status === 200 ? bed.lastSent('x-consumer') : status;
    };
    expect(await nameOf({ sub: 'ann' })).to.equal('ann');
    expect(await nameOf({ sub: 'bob' }), 'a subject of another issuer').to.equal('');
    expect(await nameOf({ sub: 'eve' })).to.equal('');
    expect(await nameOf({}), 'no subject').to.equal('');
    expect(await nameOf({ sub: ['ann'] }), 'a subject that is no text').to.equal('');
    const unsigned = tokenOf(signerOf('ES256'), { iss: issuer, exp: inAnHour(), sub: 'ann' });
    expect((await bed.ask({ headers: { authorization: `Bearer ${unsigned}` } })).status).to.equal(401);
  });

  it('stand in access logs, and their keys do not', async () => {
    const path = join(await directories.make(), 'access.log');
    const fields = {
      line: `\${request.method} \${request.path} \${consumer.id} \${consumer.name} \${consumer.labels.plan}.`,
      key: `\${request.header.x-api-key}`,
    };
    const log = { type: 'accessLog', accessLog: { path, onResponse: { fields } } } as unknown as Middleware;
    const consumers = storedConsumers(keyed('gold', ['CANARY'], { name: 'Gold', labels: { plan: 'g' } }));
    await bed.serve([log, apiKey], { more: { consumers } });
    await bed.ask({ path: '/a?key=CANARY', headers: { 'x-api-key': 'CANARY' } });
    await bed.ask({ path: '/b?key=CANARY-2', headers: { 'x-api-key': 'CANARY' } });
    await eventually(() => expect(readFileSync(path, 'utf8').trim().split('\n')).to.have.length(2));
    const text = readFileSync(path, 'utf8');
    expect(text).to.include('GET /a gold Gold g.').and.include('GET /b   .').and.not.include('CANARY');
  });

  it('are found in explanations, which show what becomes of the key', async () => {
    const consumers = storedConsumers(keyed('gold', ['CANARY']));
    const middlewares = [
      { id: 'm', name: 'm', ...apiKey, apiKey: { ...apiKey.apiKey, consumerHeader: 'X-Who' } },
      { id: 't', name: 't', ...tell },
    ];
    const forward = { destinations: [{ destinationId: 'd' }] };
    const configuration = {
      ...{ listeners: [], groups: [], middlewares, consumers },
      destinations: [{ id: 'd', name: 'd', host: 'h', port: 1 }],
      routes: [{ id: 'r', name: 'r', middlewareIds: ['m', 't'], forward }],
    };
    const explainer = new Explainer();
    const explain = (url: string, headers = {}) =>
      explainer.explain('one', () => configuration, { method: 'GET', url, headers, clientIp: '192.0.2.1' });
    const found = await explain('/a?x=1&key=CANARY', { host: 'h', 'x-api-key': 'CANARY' });
    expect(JSON.stringify(found)).to.not.include('CANARY');
    expect(found.middlewares.map(({ effect }) => effect)).to.deep.equal([
      {
        kind: 'passes',
        changes: [
          { name: 'x-api-key', value: null, append: false },
          { name: 'X-Who', value: 'gold', append: false },
        ],
        consumer: { id: 'gold', name: 'gold' },
      },
      { kind: 'passes', changes: [{ name: 'x-consumer', value: 'gold', append: false }] },
    ]);
    expect(found.outcome).to.have.nested.property('upstream.target', '/a?x=1');
    const wrong = await explain('/a?key=CANARY-2', { host: 'h' });
    expect(wrong.outcome).to.deep.equal({ action: 'middleware', id: 'm', status: 401 });
    expect(wrong.middlewares[1]?.because).to.equal('notReached');
  });

  it('keep their keys from services that are asked after apiKey', () => {
    const exchange = Object.assign(new StubExchange({ path: '/a', query: 'key=CANARY&x=1' }), { upstreamQuery: 'x=1' });
    expect(targetOf(exchange)).to.equal('/a?x=1');
    expect(targetOf({ ...exchange, upstreamQuery: '' })).to.equal('/a');
    expect(targetOf({ ...exchange, upstreamQuery: undefined })).to.equal(exchange.request.target);
    expect(requestFields(exchange as never, () => true).join()).to.not.include('CANARY');
  });
});
