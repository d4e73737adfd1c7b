import { expect } from 'chai';
import { anonymousAdmin } from '../../../src/resources/caller.ts';
import { conditionsOf, idempotencyOf, ifMatchOf } from '../../../src/resources/preconditions.ts';
import type { ApiRequest } from '../../../src/resources/resource-answer.ts';
import { refusal } from '../../support/refusal.ts';

const request = (headers: Record<string, string>, body = ''): ApiRequest => ({
  caller: { ...anonymousAdmin, name: 'ci' },
  path: '/api/v1/routes',
  query: {},
  headers,
  body: Buffer.from(body),
});

describe('If-Match', () => {
  const accepted: [text: string, expected: unknown][] = [
    ['*', '*'],
    ['"7"', [7]],
    ['"7", "9"', [7, 9]],
    ['"7","abc" , "9"', [7, 9]],
    [', "7",, "9" ,', [7, 9]],
    ['W/"7"', []],
    ['"abc"', []],
    ['"-1"', []],
    // Tags are compared as they are written (RFC 9110 §8.8.3.2): these are of no revision.
    ['"07", "00"', []],
  ];
  for (const [text, expected] of accepted) {
    it(`${text} names ${JSON.stringify(expected)}`, () => {
      expect(ifMatchOf(request({ 'if-match': text }))).to.deep.equal({ ifMatch: expected });
    });
  }

  it('is absent without the header', () => {
    expect(ifMatchOf(request({}))).to.deep.equal({});
  });

  for (const text of ['', '7', '"7', '7"', '"7" "8"', '*, "7"', 'x"7"']) {
    it(`is refused as ${JSON.stringify(text)}`, () => {
      expect(refusal(() => ifMatchOf(request({ 'if-match': text })))).to.include({ code: 'INVALID' });
    });
  }
});

describe('If-None-Match of a write to revision 7', () => {
  const conditions = (headers: Record<string, string>) => conditionsOf(request(headers), 7);

  for (const text of ['*', '"7"', 'W/"7"', '"1", "7"']) {
    it(`refuses it as ${text}, which names what is there`, () => {
      const refused = refusal(() => conditions({ 'if-none-match': text, 'if-match': '*' }));
      expect(refused).to.include({ code: 'PRECONDITION_FAILED' });
    });
  }

  it('lets it pass otherwise, as long as what is there does not move', () => {
    expect(conditions({ 'if-none-match': '"1", "07"' })).to.deep.equal({ ifMatch: [7] });
    expect(conditions({ 'if-none-match': '"1"', 'if-match': '*' })).to.deep.equal({ ifMatch: '*' });
    expect(conditions({})).to.deep.equal({});
  });

  it('is refused when it is no list of entity tags', () => {
    for (const text of ['', '7', '*, "1"']) {
      expect(
        refusal(() => conditions({ 'if-none-match': text })),
        text,
      ).to.include({ code: 'INVALID' });
    }
  });
});

describe('Idempotency-Key', () => {
  it('is scoped to the API key and the path, and bound to the bytes of the body', () => {
    const { idempotency } = idempotencyOf(request({ 'idempotency-key': 'k1' }, '{}'));
    expect(idempotency).to.deep.equal({
      scope: 'ci\n/api/v1/routes\nk1',
      bodyHash: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    });
  });

  it('is bound to parameters that decide what is done, and to no other', () => {
    const hash = (query: Record<string, string>) =>
      idempotencyOf({ ...request({ 'idempotency-key': 'k1' }, '{}'), query }).idempotency?.bodyHash;
    const plain = hash({});
    const same: Record<string, string>[] = [
      { force: 'false' },
      { wait: 'all', timeout: '5s' },
      { secrets: 'resolved' },
      { strict: '' },
    ];
    for (const query of same) expect(hash(query), JSON.stringify(query)).to.equal(plain);
    const others: Record<string, string>[] = [
      { confirmWithin: '60s' },
      { confirmWithin: '61s' },
      { force: 'true' },
      { strict: 'true' },
      { failOn: 'info' },
    ];
    expect(new Set([plain, ...others.map(hash)])).to.have.property('size', 1 + others.length);
  });

  it('has 1 to 128 visible characters', () => {
    expect(idempotencyOf(request({ 'idempotency-key': 'x'.repeat(128) }))).to.have.property('idempotency');
    for (const key of ['', 'x'.repeat(129), 'a b', 'a\u00e4', '\t']) {
      expect(refusal(() => idempotencyOf(request({ 'idempotency-key': key })))).to.include({ code: 'INVALID' });
    }
  });
});
