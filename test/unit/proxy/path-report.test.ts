import { expect } from 'chai';
import { createProxy, type Proxy as DataPlane } from '../../../src/proxy/proxy.ts';
import { loopbackDataPlane } from '../../support/data-plane-settings.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { logCapture } from '../../support/log-capture.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { HandSource, ProxyBed } from '../../support/proxy-bed.ts';
import { WorkersInThread } from '../../support/workers-in-thread.ts';

describe('a listener that only reports what path normalization would change', () => {
  let bed: ProxyBed;
  let clock: ManualClock;
  let lines: readonly string[];
  let proxy: DataPlane;
  let port: number;
  let serve: (pathNormalization: 'enforce' | 'report') => Promise<void>;

  beforeEach(async () => {
    bed = new ProxyBed();
    clock = new ManualClock();
    port = await freePort();
    const { logger, ...captured } = logCapture();
    lines = captured.lines;
    let index = 0;
    const source = new HandSource();
    proxy = createProxy({
      source,
      clock,
      telemetry: { logger },
      settings: loopbackDataPlane(),
      threads: new WorkersInThread(clock),
    });
    bed.atEnd(() => proxy.close({ withinMs: 0 }));
    serve = async (pathNormalization) => {
      source.publish(++index, {
        listeners: [{ id: 'l', name: 'web', port, pathNormalization }],
        routes: [{ id: 'r', name: 'r', directResponse: { status: 200, body: 'ok' } }],
      });
      if (index === 1) await proxy.start();
      else await proxy.installed(index, 5_000);
    };
  });
  afterEach(() => bed.end());

  const ask = async (...paths: readonly string[]): Promise<void> => {
    for (const path of paths) {
      const wire = bed.wire(port);
      wire.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await wire.until(/ok$/);
    }
  };
  /** Turn by turn of the wheel: one turn that comes seconds late puts off what was armed before it. */
  const pass = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 50) clock.advance(50);
  };
  const told = (): unknown[] =>
    lines
      .map((line) => JSON.parse(line))
      .filter(({ message }) => message === 'paths that enforcing would change go on as they were sent');

  it('counts such requests and tells of all of a while in one line', async () => {
    await serve('report');
    await ask('/plain', '/a//b', '/c/../d', `/${'e'.repeat(300)}/.`);
    expect(told()).to.deep.equal([]);
    pass(11_000);
    const message = 'paths that enforcing would change go on as they were sent';
    const first = { listener: 'web', requests: 3, sent: '/a//b', canonical: '/a/b', message };
    await eventually(() => expect(told()).to.deep.equal([first]));
    await ask(`/${'e'.repeat(300)}/.`);
    pass(11_000);
    const long = `/${'e'.repeat(199)}`;
    const second = { listener: 'web', requests: 1, sent: long, canonical: long, message };
    await eventually(() => expect(told()).to.deep.equal([first, second]));
    pass(60_000);
    // Reports of a worker from before an activation are here after it.
    await serve('report');
    expect(told()).to.have.length(2);
  });

  it('has nothing to tell where it is enforced', async () => {
    await serve('enforce');
    await ask('/a//b');
    pass(11_000);
    await serve('enforce');
    expect(told()).to.deep.equal([]);
  });
});
