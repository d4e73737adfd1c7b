// `multiple: reject`: a request that repeats what may come once is refused by the route that would serve it
// (contract.md §6.3).
import { expect } from 'chai';
import { compile } from '../../../../src/proxy/compile/compile.ts';
import { explain } from '../../../../src/proxy/explain/explain.ts';
import { built } from '../../../../src/proxy/upstream/balance/hash-ring.ts';
import { Http2Client } from '../../../support/http2-client.ts';
import { PolicyBed } from '../../../support/named-upstreams.ts';
import { configurationOf } from '../../../support/routing.ts';

const header = { name: 'x-tenant', value: 'a', multiple: 'reject' } as const;
const param = { name: 'tenant', value: 'a', multiple: 'reject' } as const;
const answers = (name: string, status: number, match: object) => ({
  ...{ id: name, name, match },
  directResponse: { status, body: name },
});
const routes = [
  answers('exact', 200, { path: '/exact' }),
  answers('by-header', 201, { headers: [header], methods: ['GET'] }),
  answers('by-query', 202, { queryParams: [param] }),
  answers('rest', 203, {}),
];

/** Target, values of the field, status. */
const rows = [
  ['/', ['a'], 201],
  ['/', ['b'], 203],
  ['/', [], 203],
  ['/', ['a', 'a'], 400],
  ['/', ['b', 'c'], 400],
  ['/exact', ['a', 'b'], 200],
  ['/?tenant=a', [], 202],
  ['/?tenant=a&tenant=b', [], 400],
  ['/?tenant=b&ten%61nt=b', [], 400],
] as const;

describe('matchers that reject what is repeated', () => {
  let bed: PolicyBed;
  before(async () => {
    bed = await PolicyBed.open();
    const listeners = [{ id: 'l', name: 'l', port: bed.port, http2: true }];
    await bed.install({ listeners, routes, groups: [], middlewares: [] });
  });
  after(() => bed.end());

  for (const [target, values, status] of rows) {
    const what = `${target} with [${values.join(', ')}]`;

    it(`answer ${status} over HTTP/1.1 to ${what}, and to it again on the same connection`, async () => {
      const wire = bed.wire(bed.port);
      const lines = values.map((value) => `X-Tenant: ${value}\r\n`).join('');
      const head = `GET ${target} HTTP/1.1\r\nHost: x\r\n${lines}\r\n`;
      for (let n = 1; n <= 2; n++) {
        wire.send(head);
        const text = await wire.until(new RegExp(`(HTTP/1.1 ${status} [^]*?\r\n\r\n[^]+){${n}}`));
        if (status === 400) expect(text).to.include('"error":"repeated_field"');
      }
    });

    it(`answer ${status} over HTTP/2 to ${what}`, async () => {
      const client = new Http2Client(`http://127.0.0.1:${bed.port}`);
      try {
        const fields = values.length === 0 ? {} : { 'x-tenant': [...values] };
        const answer = await client.ask({ ':path': target, ...fields });
        expect(answer.status).to.equal(status);
        if (status === 400) expect(JSON.parse(answer.body)).to.include({ error: 'repeated_field', status: 400 });
      } finally {
        client.close();
      }
    });

    it(`are explained: ${status} to ${what}`, () => {
      const { table } = compile(configurationOf({ routes }), { canRun: () => true });
      if (table === undefined) throw new Error('the table must compile');
      const question = { method: 'GET', url: target, headers: { 'x-tenant': [...values] }, clientIp: '127.0.0.1' };
      const { outcome } = built(explain(table, [], question));
      expect(outcome).to.include(status === 400 ? { error: 'repeated_field', status } : { status });
    });
  }

  it('let another route serve what the route does not take for another reason', async () => {
    const wire = bed.wire(bed.port);
    wire.send('DELETE / HTTP/1.1\r\nHost: x\r\nX-Tenant: a\r\nX-Tenant: b\r\n\r\n');
    await wire.until(/HTTP\/1.1 203 /);
  });
});
