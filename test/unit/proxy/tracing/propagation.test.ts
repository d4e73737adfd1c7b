// Propagation of a trace that is not recorded, and handling of invalid trace fields (W3C Trace Context).
import { expect } from 'chai';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';
import { type TraceBook, traceBook } from '../../../support/trace-book.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const fieldsOf = (flags: string) => ({ traceparent: `00-${traceId}-00f067aa0ba902b7-${flags}`, tracestate: 'a=1,b=2' });

async function bedWith(traces: TraceBook | undefined): Promise<MiddlewareBed> {
  const bed = new MiddlewareBed(traces === undefined ? {} : { traces });
  await bed.serve([]);
  return bed;
}

const sent = (bed: MiddlewareBed) => [bed.lastSent('traceparent'), bed.lastSent('tracestate')];

describe('traceparent and tracestate', () => {
  it('pass untouched with any content while traces are off', async () => {
    const bed = await bedWith(undefined);
    for (const headers of [fieldsOf('01'), { traceparent: 'NONSENSE', tracestate: ', ,' }, {}]) {
      await bed.ask({ headers });
      const { traceparent, tracestate } = headers as Partial<ReturnType<typeof fieldsOf>>;
      expect(sent(bed)).to.deep.equal([traceparent, tracestate]);
    }
    await bed.ask({ headers: { traceparent: ['a', 'b'] } });
    expect(bed.lastSent('traceparent')).to.deep.equal(['a', 'b']);
    await bed.end();
  });

  it('of a parent that is not sampled pass as they are, and nothing is recorded', async () => {
    const book = await traceBook(1);
    const bed = await bedWith(book);
    for (const flags of ['00', '02']) {
      await bed.ask({ headers: fieldsOf(flags) });
      expect(sent(bed)).to.deep.equal(Object.values(fieldsOf(flags)));
    }
    expect(book.spans).to.deep.equal([]);
    await bed.end();
  });

  it('say of a trace that begins here and is not sampled that it is not', async () => {
    const bed = await bedWith(await traceBook(0));
    await bed.ask({ headers: { tracestate: 'a=1' } });
    const [own, state] = sent(bed);
    expect(own).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(state).to.equal(undefined);
    await bed.ask();
    expect(bed.lastSent('traceparent')).to.match(/-00$/).and.not.to.equal(own);
    await bed.end();
  });

  it('that are none begin another trace, and what was said with them ends', async () => {
    const book = await traceBook(1);
    const bed = await bedWith(book);
    const { traceparent } = fieldsOf('01');
    for (const malformed of [
      'x',
      traceparent.toUpperCase(),
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      [traceparent, traceparent],
    ]) {
      await bed.ask({ headers: { traceparent: malformed, tracestate: 'a=1' } });
      const [own, state] = sent(bed);
      expect(own).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      expect(own).not.to.contain(traceId);
      expect(state).to.equal(undefined);
    }
    await bed.end();
  });

  it('a share of the traces that begin here is recorded, and those told of are the ones', async () => {
    const book = await traceBook(0.3);
    const bed = await bedWith(book);
    for (let i = 0; i < 100; i++) await bed.ask();
    const flagged = bed.reached
      .map(({ headers }) => String(headers.traceparent))
      .filter((text) => text.endsWith('-01'));
    expect(flagged.length).to.be.within(5, 70);
    const recorded = new Set((await book.served(flagged.length)).map((span) => span.traceId));
    expect([...recorded].sort()).to.deep.equal(flagged.map((text) => text.slice(3, 35)).sort());
    await bed.end();
  });
});
