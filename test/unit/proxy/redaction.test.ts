import { expect } from 'chai';
import { createProxy } from '../../../src/proxy/proxy.ts';
import { Redaction } from '../../../src/proxy/redaction.ts';
import { loopbackDataPlane } from '../../support/data-plane-settings.ts';
import { freePort } from '../../support/free-port.ts';
import { logCapture } from '../../support/log-capture.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { configOf } from '../../support/proxy-bed.ts';
import { WorkersInThread } from '../../support/workers-in-thread.ts';

/** Address that no machine has (RFC 5737). */
const address = '203.0.113.77';
const path = '/no such directory/S3CRET.log';

const withSecrets = (index: number, text: string) => ({
  ...configOf(index, { routes: [{ id: 'r', name: 'r', directResponse: { status: 200, body: text } }] }),
  secrets: ['/snapshot/routes/0/directResponse/body'],
});

describe('what the data plane says of a configuration with secrets', () => {
  it('holds none of them where an address and the path of a log came from secrets', async () => {
    const { logger, lines } = logCapture();
    const config = {
      ...configOf(1, {
        listeners: [{ id: 'l', name: 'web', address, port: await freePort() }],
        middlewares: [{ id: 'm', name: 'm', type: 'accessLog', accessLog: { path } }],
      }),
      secrets: ['/snapshot/listeners/0/address', '/snapshot/middlewares/0/accessLog/path'],
    };
    const source = {
      subscribe: (subscriber: (given: typeof config) => void) => {
        subscriber(config);
        return () => {};
      },
    };
    const clock = new ManualClock();
    const proxy = createProxy({
      source,
      clock,
      threads: new WorkersInThread(clock),
      telemetry: { logger },
      settings: loopbackDataPlane({ bindAddress: undefined }),
    });
    try {
      await proxy.start();
      const [listener] = proxy.listeners();
      expect(listener?.state).to.equal('waiting');
      expect(JSON.stringify(listener)).to.contain('***').and.not.contain(address);
    } finally {
      await proxy.close({ withinMs: 0 });
    }
    const log = lines.join('\n');
    expect(log).to.contain('a listener cannot open').and.not.contain(address);
    expect(log).to.contain('an access log cannot be opened').and.not.contain('S3CRET');
  });

  it('forgets them when neither what is live nor what is being installed has them', () => {
    const redaction = new Redaction();
    redaction.learn('next', withSecrets(1, 'first'));
    redaction.settle();
    redaction.learn('next', withSecrets(2, 'second'));
    expect(redaction.text('first second')).to.equal('*** ***');
    redaction.settle();
    expect(redaction.text('first second')).to.equal('first ***');
    redaction.learn('candidate', withSecrets(3, 'third'));
    expect(redaction.text('second third')).to.equal('*** ***');
    redaction.learn('candidate', undefined);
    expect(redaction.text('second third')).to.equal('*** third');
  });

  it('masks fields of every line, lists too, and leaves the rest', () => {
    const { logger, lines } = logCapture();
    const redaction = new Redaction();
    redaction.learn('next', withSecrets(1, 'S3CRET'));
    redaction
      .logger(logger)
      .child({ at: 'S3CRET' })
      .warn({ list: ['a S3CRET b', 7], n: 1 }, 'happens');
    expect(lines).to.deep.equal([JSON.stringify({ at: '***', list: ['a *** b', 7], n: 1, message: 'happens' })]);
  });
});
