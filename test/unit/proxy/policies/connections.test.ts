// `maxConnsPerHost` of contract.md §2.3.1: it limits TCP connections to a destination, and waiting requests get their
// turn.
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { PolicyBed } from '../../../support/named-upstreams.ts';

describe('the limit on connections to a destination', () => {
  let bed: PolicyBed;
  beforeEach(async () => {
    bed = await PolicyBed.open();
  });
  afterEach(() => bed.end());

  it('is kept by any number of requests, which wait for their turn', async () => {
    let open = 0;
    let most = 0;
    const ports = await bed.named(['a'], (name, _, response) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open--;
        response.end(name);
      }, 5);
    });
    await bed.balanced(ports, { maxConnsPerHost: 3 });
    const answers = await Promise.all(Array.from({ length: 60 }, () => bed.ask()));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(most).to.equal(3);
  });

  it('counts a connection that became a tunnel for as long as it is open', async () => {
    const upstream = await bed.rawUpstream((socket, request) => {
      if (/upgrade/i.test(request)) {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
      } else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    await bed.balanced([upstream.port], { maxConnsPerHost: 1, circuitBreaker: { maxRequests: 9 } });
    const tunnel = bed.wire(bed.port);
    tunnel.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    await tunnel.until(/101/);
    let answered = false;
    const waiting = bed.ask().then((answer) => {
      answered = true;
      return answer;
    });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect([answered, upstream.connections]).to.deep.equal([false, 1]);
    tunnel.destroy();
    expect((await waiting).body).to.equal('ok');
    await eventually(() => expect(upstream.sockets.size).to.equal(1));
  });
});
