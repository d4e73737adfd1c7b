import { expect } from 'chai';
import type { FinishedSpan } from '../../../../src/telemetry/traces/finished-span.ts';
import { MessageWriter } from '../../../../src/telemetry/traces/protobuf-writer.ts';
import { type SpanBatch, SpanBatches } from '../../../../src/telemetry/traces/span-batches.ts';
import { writeSpan } from '../../../../src/telemetry/traces/span-encoding.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const span: FinishedSpan = {
  ...{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentId: '', remote: false, name: 'x', kind: 0 },
  ...{ startTime: [1, 0], endTime: [2, 0], status: { code: 0 }, attributes: {}, keys: [], values: [], events: [] },
  droppedEvents: 0,
};
const packed = packedSpan();

function packedSpan(): Uint8Array {
  const writer = new MessageWriter();
  writeSpan(writer, span);
  return writer.take();
}

function gathering() {
  const clock = new ManualClock();
  const sent: SpanBatch[] = [];
  const batches = new SpanBatches(clock, (batch) => sent.push(batch));
  const add = (count: number): void => {
    for (let i = 0; i < count; i++) batches.add(span);
  };
  return { clock, sent, batches, add };
}

const sizes = (sent: readonly SpanBatch[]): number[] => sent.map(({ count }) => count);

describe('spans of a worker on their way to main', () => {
  it('go in batches: when one is full, or has waited', () => {
    const { clock, sent, batches, add } = gathering();
    add(300);
    expect(sizes(sent)).to.deep.equal([256]);
    clock.advance(500);
    expect(sizes(sent)).to.deep.equal([256, 44]);
    add(1);
    batches.flush();
    expect(sizes(sent)).to.deep.equal([256, 44, 1]);
    expect(clock.pending).to.equal(0);
  });

  it('are lost and counted while main does not take what it has', () => {
    const { clock, sent, batches, add } = gathering();
    add(10_000);
    clock.advance(5_000);
    expect(sizes(sent)).to.deep.equal([256, 256, 256, 256]);
    batches.taken();
    expect(sizes(sent).length).to.equal(5);
    expect(sent[4]).to.deep.include({ lost: 10_000 - 5 * 256 });
    for (let i = 0; i < 4; i++) batches.taken();
    add(1);
    clock.advance(500);
    expect(sent[5]).to.deep.equal({ bytes: packed, count: 1, lost: 0 });
  });

  it('go early when they are long', () => {
    const { sent, batches } = gathering();
    const long = { ...span, name: 'x'.repeat(200 * 1024) };
    for (let i = 0; i < 3; i++) batches.add(long);
    expect(sizes(sent)).to.deep.equal([3]);
  });
});
