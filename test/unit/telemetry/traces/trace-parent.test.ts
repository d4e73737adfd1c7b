import { expect } from 'chai';
import { formatTraceParent, parseTraceParent } from '../../../../src/telemetry/traces/trace-parent.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';

describe('traceparent (W3C Trace Context)', () => {
  const read: readonly [string, string, boolean][] = [
    ['sampled', `00-${traceId}-${parentId}-01`, true],
    ['not sampled', `00-${traceId}-${parentId}-00`, false],
    ['flags that are not known yet', `00-${traceId}-${parentId}-03`, true],
    ['only flags that are not known yet', `00-${traceId}-${parentId}-02`, false],
    ['a later version', `cc-${traceId}-${parentId}-01`, true],
    ['a later version that says more', `cc-${traceId}-${parentId}-01-what-the-future-brings`, true],
  ];
  for (const [name, text, sampled] of read) {
    it(`reads ${name}`, () => expect(parseTraceParent(text)).to.deep.equal({ traceId, parentId, sampled }));
  }

  const ignored: readonly [string, string][] = [
    ['nothing', ''],
    ['no trace', `00-${'0'.repeat(32)}-${parentId}-01`],
    ['no parent', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['capitals', `00-${traceId.toUpperCase()}-${parentId}-01`],
    ['version ff', `ff-${traceId}-${parentId}-01`],
    ['more than version 00 has', `00-${traceId}-${parentId}-01-`],
    ['an id too short', `00-${traceId.slice(1)}-${parentId}-01`],
    ['flags too long', `cc-${traceId}-${parentId}-01.`],
    ['two of them', `00-${traceId}-${parentId}-01,00-${traceId}-${parentId}-01`],
    ['other text', 'x'.repeat(55)],
  ];
  for (const [name, text] of ignored) {
    it(`ignores ${name}`, () => expect(parseTraceParent(text)).to.equal(undefined));
  }

  it('writes what it reads', () => {
    const text = formatTraceParent(traceId, parentId, true);
    expect(text).to.equal(`00-${traceId}-${parentId}-01`);
    expect(formatTraceParent(traceId, parentId, false)).to.match(/-00$/);
  });
});
