import { expect } from 'chai';
import { createProxy } from '../../../src/proxy/proxy.ts';
import { loopbackDataPlane } from '../../support/data-plane-settings.ts';
import { freePort } from '../../support/free-port.ts';
import { logCapture } from '../../support/log-capture.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { HandSource, ProxyBed } from '../../support/proxy-bed.ts';

describe('a listener that only reports what path normalization would change', () => {
  let bed: ProxyBed;
  let clock: ManualClock;
  let lines: readonly string[];
  let port: number;
  let serve: (pathNormalization: 'enforce' | 'report') => Promise<void>;

  beforeEach(async () => {
    bed = new ProxyBed();
    clock = new ManualClock();
    port = await freePort();
    const { logger, ...captured } = logCapture();
    lines = captured.lines;
    const source = new HandSource();
    const proxy = createProxy({ source, clock, telemetry: { logger }, settings: loopbackDataPlane() });
    bed.atEnd(() => proxy.close({ withinMs: 0 }));
    serve = async (pathNormalization) => {
      source.publish(1, {
        listeners: [{ id: 'l', name: 'web', port, pathNormalization }],
        routes: [{ id: 'r', name: 'r', directResponse: { status: 200, body: 'ok' } }],
      });
      await proxy.start();
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
    expect(told()).to.deep.equal([{ listener: 'web', requests: 3, sent: '/a//b', canonical: '/a/b', message }]);
    await ask(`/${'e'.repeat(300)}/.`);
    pass(11_000);
    const long = `/${'e'.repeat(199)}`;
    expect(told()[1]).to.deep.equal({ listener: 'web', requests: 1, sent: long, canonical: long, message });
    pass(60_000);
    expect(told()).to.have.length(2);
  });

  it('has nothing to tell where it is enforced', async () => {
    await serve('enforce');
    await ask('/a//b');
    pass(11_000);
    expect(told()).to.deep.equal([]);
  });
});
