import { expect } from 'chai';
import { bufferedLogStream } from '../../../src/telemetry/buffered-log-stream.ts';
import { eventually } from '../../support/eventually.ts';

function recorder() {
  const written: string[] = [];
  const exits: (() => void)[] = [];
  const sink = { write: (text: string) => written.push(text), flushSync: () => written.push('flushed') };
  const lines = bufferedLogStream(sink, (run) => exits.push(run));
  return { written, lines, exit: () => exits.map((run) => run()) };
}

describe('gathered lines', () => {
  it('lines of one moment leave in one write, in order, later ones in another', async () => {
    const { written, lines } = recorder();
    lines.write('a\n');
    lines.write('b\n');
    expect(written).to.be.empty;
    await eventually(async () => expect(written).to.deep.equal(['a\nb\n']));
    lines.write('c\n');
    await eventually(async () => expect(written).to.deep.equal(['a\nb\n', 'c\n']));
  });

  it('much text does not wait', () => {
    const { written, lines } = recorder();
    const long = `${'x'.repeat(40_000)}\n`;
    lines.write('a\n');
    lines.write(long);
    expect(written).to.deep.equal([`a\n${long}`]);
  });

  it('what waits at the exit is written then', () => {
    const { written, lines, exit } = recorder();
    lines.write('the last\n');
    exit();
    expect(written).to.deep.equal(['the last\n', 'flushed']);
  });
});
