import { expect } from 'chai';
import fc from 'fast-check';
import fastify from 'fastify';
import { send } from '../../../src/resources/http-exchange.ts';
import { jsonPieces } from '../../../src/resources/json-pieces.ts';
import { inPieces, jsonArray, longJsonArray } from '../../../src/resources/resource-answer.ts';

describe('a long answer', () => {
  it('of lists within objects is the same JSON, in pieces', () => {
    fc.assert(
      fc.property(fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue())), (value) => {
        expect([...jsonPieces(value)].join('')).to.equal(JSON.stringify(value));
      }),
    );
    const answer = { left: undefined, entities: { created: [{ id: 'a' }, { id: 'b' }], deleted: [] }, replay: null };
    expect([...jsonPieces(answer)].join('')).to.equal(JSON.stringify(answer));
    expect(Math.max(...Array.from(jsonPieces(answer), ({ length }) => length))).to.be.below(15);
  });

  it('is the text of a short one, in pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 8 }), { maxLength: 50 }), fc.nat({ max: 4_000 }), (some, count) => {
        const text = (at: number): string => `${some[at % some.length] ?? ''}${at}${' '.repeat(at % 400)}`;
        const items = Array.from({ length: count }, (_, at) => JSON.stringify(text(at)));
        const whole = jsonArray(items);
        const body = longJsonArray(items);
        expect([...body].join('')).to.equal(whole);
        expect(typeof body === 'string', String(whole.length)).to.equal(whole.length < 512 * 1024);
      }),
      { numRuns: 30 },
    );
  });

  it('arrives whole, as JSON, and others have their turn meanwhile', async () => {
    const items = Array.from({ length: 20_000 }, (_, at) =>
      JSON.stringify({ id: `größe ${at}`, more: 'x'.repeat(50) }),
    );
    function* slowly(): Generator<string> {
      for (const [at, item] of items.entries()) {
        // Longer than the slice of a turn.
        if (at % 2_000 === 0) for (const endMs = performance.now() + 8; performance.now() < endMs; );
        yield `${at === 0 ? '[' : ','}${item}`;
      }
      yield ']';
    }
    const server = fastify();
    let turns = 0;
    let isOver = false;
    server.get('/', (_request, reply) => {
      const count = (): void => {
        turns++;
        if (!isOver) setImmediate(count);
      };
      count();
      send(reply, { status: 201, headers: { ETag: '"7"' }, body: inPieces(slowly()) });
    });
    const { statusCode, headers, body } = await server.inject('/');
    isOver = true;
    await server.close();
    expect(body).to.equal(jsonArray(items));
    expect(statusCode).to.equal(201);
    expect(headers).to.include({ 'content-type': 'application/json', etag: '"7"', 'cache-control': 'no-store' });
    expect(turns).to.be.greaterThan(4);
  });

  it('is made as far as it is taken', () => {
    let made = 0;
    function* texts(): Generator<string> {
      for (; made < 100_000; made++) yield 'x'.repeat(100);
    }
    const pieces = inPieces(texts())[Symbol.iterator]();
    expect(pieces.next().value).to.have.length.within(64 * 1024, 65 * 1024);
    expect(made).to.be.below(6_000);
    let taken = 1;
    while (taken < 9) taken += pieces.next().done ? 0 : 1;
    expect(made).to.be.below(6_700);
  });
});
