import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Middleware } from '../../../../src/model/middleware.ts';
import {
  type LineBatch,
  LineBatches,
  unwrittenBatchesMax,
  unwrittenMax,
} from '../../../../src/proxy/access-log/line-batches.ts';
import type { LineSink } from '../../../../src/proxy/access-log/line-sink.ts';
import { LogFiles } from '../../../../src/proxy/access-log/log-files.ts';
import { anyLogPath } from '../../../../src/proxy/access-log/log-paths.ts';
import { systemClock } from '../../../../src/util/clock.ts';
import { logCapture } from '../../../support/log-capture.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { TemporaryDirectories } from '../../../support/temporary-directory.ts';

const logTo = (path: string): Middleware => ({ id: path, name: path, type: 'accessLog', accessLog: { path } });

describe('files of access logs', () => {
  const directories = new TemporaryDirectories();
  const { logger, lines } = logCapture();
  let files: LogFiles;
  let path: string;
  beforeEach(async () => {
    files = new LogFiles(systemClock, logger, anyLogPath);
    path = join(await directories.make(), 'access.log');
  });
  afterEach(async () => {
    await files.close(1_000);
    await directories.removeAll();
  });

  const write = (text: string) => new Promise<void>((resolve) => files.write(path, Buffer.from(text), 1, resolve));

  it('are appended to, made with mode 0644, in the order in which lines came', async () => {
    files.follow([logTo(path)]);
    await Promise.all(['a\n', 'b\n', 'c\n'].map(write));
    expect(readFileSync(path, 'utf8')).to.equal('a\nb\nc\n');
    expect(statSync(path).mode & 0o777).to.equal(0o644 & ~process.umask());
    await files.close(1_000);
    files = new LogFiles(systemClock, logger, anyLogPath);
    await write('d\n');
    expect(readFileSync(path, 'utf8')).to.equal('a\nb\nc\nd\n');
  });

  it('are opened anew when told so and with each configuration, and lose no line between', async () => {
    files.follow([logTo(path)]);
    await write('1\n');
    renameSync(path, `${path}.1`);
    await write('2\n');
    files.reopen();
    await write('3\n');
    renameSync(path, `${path}.2`);
    files.follow([logTo(path)]);
    await write('4\n');
    expect(readFileSync(`${path}.1`, 'utf8')).to.equal('1\n2\n');
    expect(readFileSync(`${path}.2`, 'utf8')).to.equal('3\n');
    expect(readFileSync(path, 'utf8')).to.equal('4\n');
  });

  it('that no configuration names any more are written to their end and closed', async () => {
    files.follow([logTo(path)]);
    const written = write('last\n');
    files.follow([]);
    await written;
    expect(readFileSync(path, 'utf8')).to.equal('last\n');
  });

  it('that cannot be opened are named in a warning', async () => {
    const bad = join(path, 'no', 'such');
    files.follow([logTo(bad)]);
    await files.written();
    expect(lines.some((line) => line.includes(bad) && line.includes('stdout'))).to.equal(true);
  });

  it('that could not be opened are opened once they can be, each reason named once', async () => {
    const clock = new ManualClock();
    const log = logCapture();
    const retried = new LogFiles(clock, log.logger, anyLogPath);
    const late = join(path, 'access.log');
    retried.follow([logTo(late)]);
    await retried.written();
    for (let attempt = 0; attempt < 3; attempt++) {
      clock.advance(2_000);
      await retried.written();
    }
    expect(log.lines.filter((line) => line.includes('stdout'))).to.have.length(1);
    mkdirSync(path);
    clock.advance(2_000);
    await new Promise<void>((resolve) => retried.write(late, Buffer.from('a\n'), 1, resolve));
    expect(readFileSync(late, 'utf8')).to.equal('a\n');
    expect(log.lines.at(-1)).to.contain('an access log is open again');
    await retried.close(1_000);
    expect(clock.pending).to.equal(0);
  });

  it('that are pipes without a reader are not waited for', async () => {
    execFileSync('mkfifo', [path]);
    files.follow([logTo(path)]);
    await files.written();
    expect(lines.some((line) => line.includes(path) && line.includes('ENXIO'))).to.equal(true);
  });

  it('on a full disk lose lines, tell how many, and go on', async function () {
    if (!existsSync('/dev/full')) this.skip();
    const full = '/dev/full';
    await Promise.all(
      [1, 2].map(() => new Promise<void>((resolve) => files.write(full, Buffer.from('x\n'), 1, resolve))),
    );
    expect(lines.some((line) => line.includes('access log lines are lost') && line.includes('ENOSPC'))).to.equal(true);
    await write('elsewhere\n');
    expect(readFileSync(path, 'utf8')).to.equal('elsewhere\n');
  });

  it('begin a new line behind one that was cut off, and count those that are not whole', async () => {
    execFileSync('mkfifo', [path]);
    // Open for both, so that the pipe exists without a reader.
    const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    try {
      files.follow([logTo(path)]);
      const line = `${'x'.repeat(999)}\n`;
      await new Promise<void>((resolve) => files.write(path, Buffer.from(line.repeat(100)), 100, resolve));
      const whole: string[] = [];
      const read = () => {
        const buffer = Buffer.alloc(1 << 20);
        const text = buffer.toString('utf8', 0, readSync(pipe, buffer));
        whole.push(...text.split('\n').filter((each) => each.length === line.length - 1));
        return text;
      };
      expect(read())
        .to.have.lengthOf.within(line.length, 99 * line.length)
        .and.not.match(/\n$/);
      await write('after\n');
      expect(read()).to.equal('\nafter\n');
      const told = lines.find((each) => each.includes('EAGAIN'));
      expect(JSON.parse(told ?? '{}')).to.include({ lines: 100 - whole.length });
      await write('and on\n');
      expect(read()).to.equal('and on\n');
    } finally {
      closeSync(pipe);
    }
  });
});

describe('lines on their way to main', () => {
  const write = (sink: LineSink, text: string) => {
    const line = sink.begin();
    line?.written(text);
    if (line) sink.end();
  };
  const setUp = () => {
    const clock = new ManualClock();
    const sent: object[] = [];
    const take = ({ bytes, ...rest }: LineBatch) => sent.push({ ...rest, text: Buffer.from(bytes).toString() });
    return { clock, sent, batches: new LineBatches(clock, take) };
  };

  it('are gathered for twenty milliseconds and sent as one piece for each place', () => {
    const { clock, sent, batches } = setUp();
    const sink = batches.sinkOf('a');
    write(sink, '1ä\n');
    write(batches.sinkOf('a'), '2\n');
    write(batches.sinkOf('b'), '3\n');
    expect(sent).to.deep.equal([]);
    clock.advance(20);
    expect(sent).to.deep.equal([
      { path: 'a', text: '1ä\n2\n', lines: 2, dropped: 0 },
      { path: 'b', text: '3\n', lines: 1, dropped: 0 },
    ]);
    expect(clock.pending).to.equal(0);
  });

  it('are dropped and counted while too much is unwritten, and told of once there is room', () => {
    const { clock, sent, batches } = setUp();
    const sink = batches.sinkOf('a');
    const line = `${'x'.repeat(256 * 1024)}\n`;
    const fits = Math.ceil(unwrittenMax / line.length);
    for (let i = 0; i < fits + 3; i++) write(sink, line);
    expect(sent).to.have.length(fits);
    clock.advance(20);
    expect(sent.at(-1)).to.deep.equal({ path: 'a', text: '', lines: 0, dropped: 3 });
    write(sink, line);
    clock.advance(20);
    batches.written('a', line.length);
    expect(sent.at(-1)).to.deep.equal({ path: 'a', text: '', lines: 0, dropped: 1 });
    write(sink, line);
    clock.advance(20);
    expect(sent.at(-1)).to.deep.equal({ path: 'a', text: line, lines: 1, dropped: 0 });
  });

  it('lines share one piece of memory while many batches are not written', () => {
    const { clock, sent, batches } = setUp();
    const sink = batches.sinkOf('a');
    for (let i = 0; i < 1_000; i++) {
      write(sink, `${i}\n`);
      clock.advance(20);
    }
    expect(sent).to.have.length(unwrittenBatchesMax);
    batches.written('a', 2);
    const rest = Array.from({ length: 1_000 - unwrittenBatchesMax }, (_, i) => `${i + unwrittenBatchesMax}\n`);
    expect(sent.at(-1)).to.deep.equal({ path: 'a', text: rest.join(''), lines: rest.length, dropped: 0 });
  });

  it('a line that was begun and never ended is in no batch', () => {
    const { clock, sent, batches } = setUp();
    const sink = batches.sinkOf('a');
    write(sink, '1\n');
    sink.begin()?.written('half of ');
    write(sink, '2\n');
    sink.begin()?.written('half of ');
    clock.advance(20);
    write(sink, '3\n');
    clock.advance(20);
    expect(sent).to.deep.equal([
      { path: 'a', text: '1\n2\n', lines: 2, dropped: 0 },
      { path: 'a', text: '3\n', lines: 1, dropped: 0 },
    ]);
  });
});
