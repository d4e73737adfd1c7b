// Values beyond ASCII: what the configuration says in UTF-8 and what travels as bytes are one (contract.md §6.3, §6.6).
import { expect } from 'chai';
import type { Match } from '../../../../src/model/route.ts';
import { explain } from '../../../../src/proxy/explain/explain.ts';
import { built } from '../../../../src/proxy/upstream/balance/hash-ring.ts';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';
import { aRoute, tableOf, winner } from '../../../support/routing.ts';

describe('a field value beyond ASCII', () => {
  const sent = { 'x-city': Buffer.from('Köln').toString('latin1') };
  const cases: readonly (readonly [what: string, match: Match])[] = [
    ['equal bytes', { headers: [{ name: 'X-City', value: 'Köln' }] }],
    ['a pattern of characters', { headers: [{ name: 'x-city', value: '^K.ln$', regex: true }] }],
    ['an expression', { cel: 'request.headers["x-city"] == "Köln"' }],
    ['an expression over all headers', { cel: 'request.headers.exists(name, request.headers[name] == "Köln")' }],
    ['the size of its text', { cel: 'request.headers["x-city"].size() == 4' }],
  ];
  for (const [what, match] of cases) {
    it(`is known by ${what}, to explain too`, () => {
      const table = tableOf({ routes: [aRoute('r', match)] });
      expect(winner(table, { headers: sent })).to.equal('r');
      expect(winner(table, { headers: { 'x-city': 'Cologne' } })).to.equal(undefined);
      const question = { method: 'GET', url: '/', clientIp: '127.0.0.1' };
      expect(built(explain(table, [], { ...question, headers: { 'x-city': 'Köln' } })).winner?.route.name).to.equal(
        'r',
      );
    });
  }

  it('that is no UTF-8 is compared byte by byte', () => {
    const table = tableOf({
      routes: [aRoute('r', { headers: [{ name: 'x-city', value: '^K\u00f6ln$', regex: true }] })],
    });
    expect(winner(table, { headers: { 'x-city': 'K\u00f6ln' } })).to.equal('r');
  });

  it('is sent as UTF-8 in the name of the server', async () => {
    const bed = new MiddlewareBed();
    try {
      await bed.serve([], { listener: { serverName: 'Köln' } });
      const { headers } = await bed.ask();
      expect(Buffer.from(String(headers.server), 'latin1').toString()).to.equal('Köln');
    } finally {
      await bed.end();
    }
  });
});
