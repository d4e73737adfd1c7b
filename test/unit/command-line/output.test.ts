import { expect } from 'chai';
import { outcomeText } from '../../../src/command-line/commands/explain-command.ts';
import { sarifOf } from '../../../src/command-line/documents/reports.ts';
import { faultLines } from '../../../src/command-line/input/fault.ts';
import { lineOf, type RolloutProgress, stepsOf } from '../../../src/command-line/live/rollouts.ts';
import { durationText } from '../../../src/command-line/output/duration-text.ts';
import { cutTo, table, widthOf } from '../../../src/command-line/output/text-table.ts';
import { LiveLine } from '../../../src/command-line/terminal/live-line.ts';
import { Terminal } from '../../../src/command-line/terminal/terminal.ts';

const columns = Object.getOwnPropertyDescriptor(process.stdout, 'columns');

const variant = (requests: number, errorRate: number, p99Ms: number | null) => ({
  ...{ requests, errorRate, p99Ms },
  ...{ clientErrorRate: 0, p50Ms: p99Ms, p95Ms: p99Ms },
});

describe('output of the command line', () => {
  afterEach(() => {
    Reflect.deleteProperty(process.stdout, 'columns');
    if (columns !== undefined) Object.defineProperty(process.stdout, 'columns', columns);
  });

  it('a terminal that tells no width counts as one of 80 columns', () => {
    Object.defineProperty(process.stdout, 'columns', { value: 0, configurable: true });
    expect(new Terminal({ noColor: true, quiet: false, verbose: false }).columns).to.equal(80);
  });

  const rollout: RolloutProgress = {
    state: 'running',
    step: 1,
    share: 10,
    steps: [
      { share: 1, hold: '30s' },
      { share: 10, hold: '1h' },
      { share: 100, hold: '0s' },
    ],
    events: [],
  };

  it('line of a rollout has the share, the time left, and the candidate beside stable', () => {
    const figures = {
      candidate: variant(100, 0.0002, 41.2),
      stable: variant(900, 0.0003, 39.9),
    };
    expect(lineOf(rollout, figures)).to.equal(
      'rollout   █░░░░░ 10 %  1h left   errors 0.02 % (stable 0.03 %)   p99 41 ms (stable 40)',
    );
    expect(lineOf(rollout, { ...figures, candidate: variant(0, 0, null) })).to.match(/p99 \? ms \(stable 40\)$/);
    expect(lineOf({ ...rollout, state: 'paused' })).to.equal('rollout   █░░░░░ 10 %  paused');
  });

  it('outcome of a request names its destinations, and a share with a fixed response by its status', () => {
    const upstream = { method: 'GET', target: '/', host: 'shop.test' };
    const answer = { directResponse: { status: 503 }, weight: 10 };
    const destinations = [{ id: 'cart', weight: 90, exists: true }, answer];
    expect(outcomeText({ action: 'forward', destinations, upstream })).to.equal(
      'forwards to cart 90, a response 503 10 as GET / for shop.test',
    );
  });

  it('steps are shares with holds of their own', () => {
    expect(stepsOf('1:30s,10%,100')).to.deep.equal([{ share: 1, hold: '30s' }, { share: 10 }, { share: 100 }]);
    expect(() => stepsOf('1,ten')).to.throw('1,ten');
  });

  it('lengths of time have two units at most', () => {
    expect([0, 450, 41_000, 372_000, 3_600_000, 90_061_000].map(durationText)).to.deep.equal([
      '0ms',
      '450ms',
      '41s',
      '6m12s',
      '1h',
      '1d1h',
    ]);
  });

  it('tables align wide characters, cut long cells and let none move the cursor', () => {
    const rows = [{ name: '\u6f22\u5b57' }, { name: 'a\u001b[2Jb' }, { name: 'x'.repeat(80) }];
    const text = table(rows, [
      { title: 'name', cell: ({ name }) => name },
      { title: 'n', cell: () => '1', isNumber: true },
    ]);
    const lines = text.trimEnd().split('\n');
    expect(lines[1]).to.equal(`\u6f22\u5b57${' '.repeat(56)}  1`);
    expect(lines[2]).to.equal(`a [2Jb${' '.repeat(54)}  1`);
    expect(lines[3]).to.equal(`${'x'.repeat(59)}…  1`);
  });

  it('cut texts keep characters whole, and count the columns that they take', () => {
    expect(cutTo('\u6f22\u5b57\u6f22', 6)).to.equal('\u6f22\u5b57\u6f22');
    expect(cutTo('\u6f22\u5b57\u6f22\u5b57', 6)).to.equal('\u6f22\u5b57…');
    expect(cutTo(`${'x'.repeat(4)}\u{1f680}y`, 6)).to.equal('xxxx…');
    expect(widthOf('e\u0301')).to.equal(1);
    const where = { file: '\u6f22.yaml', line: 1, column: 1 };
    const lines = faultLines([
      { place: where, subject: 'routes/\u6f22\u5b57', pointer: '', message: 'a' },
      { place: { ...where, file: 'x.yaml' }, subject: 'routes/a', pointer: '', message: 'b' },
    ]);
    expect(lines.map(widthOf)).to.deep.equal([27, 27]);
  });

  it('a live line of wide characters is narrower than the terminal', () => {
    const written: string[] = [];
    const terminal = { isQuiet: false, isLive: true, columns: 20, write: (text: string) => written.push(text) };
    new LiveLine(terminal as unknown as Terminal).show('\u6f22'.repeat(30));
    expect(widthOf(written.join('').replace('\r\u001b[2K', ''))).to.be.below(20);
  });

  it('files in a report of SARIF are references of URIs', () => {
    const place = { line: 1, column: 1 };
    const files = ['conf/a b#1?.yaml', 'a:b.yaml', '\u6f22.yaml'];
    const faults = files.map((file) => ({ place: { ...place, file }, subject: '', pointer: '', message: 'm' }));
    const text = JSON.stringify(sarifOf(faults, [], '1.0.0'));
    for (const uri of ['conf/a%20b%231%3F.yaml', 'a%3Ab.yaml', '%E6%BC%A2.yaml'])
      expect(text).to.contain(`"uri":"${uri}"`);
  });
});
