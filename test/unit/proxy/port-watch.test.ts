import { expect } from 'chai';
import type { ListenerStatus } from '../../../src/proxy/listener/listeners.ts';
import { PortWatch } from '../../../src/proxy/listener/port-watch.ts';
import { logCapture } from '../../support/log-capture.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('the watch over ports', () => {
  const status = (id: string, state: ListenerStatus['state'], reason?: string): ListenerStatus => ({
    id,
    name: `${id} name`,
    address: '0.0.0.0',
    port: 80,
    state,
    ...(reason === undefined ? {} : { reason }),
  });
  const watched = (listeners: readonly ListenerStatus[]) => {
    const clock = new ManualClock();
    const { logger, lines } = logCapture();
    const ports = {
      now: listeners,
      tries: 0,
      listeners: () => ports.now,
      async reopen() {
        ports.tries++;
      },
    };
    const watch = new PortWatch(ports, clock, logger);
    let read = 0;
    const said = () => {
      const fresh = lines.slice(read);
      read = lines.length;
      return fresh.map((line) => JSON.parse(line));
    };
    return { clock, ports, watch, said };
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('says once why a listener cannot open, tries every two seconds, and says when it is open', async () => {
    const { clock, ports, watch, said } = watched([status('a', 'waiting', 'in use'), status('b', 'open')]);
    watch.look();
    const about = { listener: 'a name', address: '0.0.0.0', port: 80 };
    const message = 'a listener cannot open and is tried again every 2 s';
    expect(said()).to.deep.equal([{ ...about, reason: 'in use', message }]);
    for (let tries = 1; tries <= 3; tries++) {
      clock.advance(1_999);
      expect(ports.tries).to.equal(tries - 1);
      clock.advance(1);
      await turn();
      expect(ports.tries).to.equal(tries);
    }
    expect(said()).to.deep.equal([]);
    ports.now = [status('a', 'open'), status('b', 'open')];
    clock.advance(2_000);
    await turn();
    expect(said()).to.deep.equal([{ ...about, message: 'a listener is open now' }]);
  });

  it('says it again when the reason changes, and after an activation only then', () => {
    const { ports, watch, said } = watched([status('a', 'waiting', 'in use')]);
    watch.look();
    watch.look();
    expect(said()).to.have.length(1);
    ports.now = [status('a', 'closed', 'TLS')];
    watch.look();
    expect(said()).to.have.nested.property('[0].message', 'a listener stays closed');
  });

  it('forgets a listener that has gone', () => {
    const { ports, watch, said } = watched([status('a', 'waiting', 'in use')]);
    watch.look();
    ports.now = [];
    watch.look();
    ports.now = [status('a', 'open')];
    watch.look();
    expect(said()).to.have.length(1);
  });

  it('leaves nothing behind when it ends, in the middle of a try too', async () => {
    const { clock, ports, watch } = watched([status('a', 'waiting', 'in use')]);
    watch.look();
    clock.advance(2_000);
    watch.end();
    await turn();
    expect({ tries: ports.tries, pending: clock.pending }).to.deep.equal({ tries: 1, pending: 0 });
  });
});
