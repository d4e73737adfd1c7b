// Lifetime of connections to an upstream: its name may change its address, its maximum age may be reached (contract.md
// §2.3.1). Names are the test's: it replaces the look-up of the system.
import dns, { type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { PolicyBed } from '../../../support/named-upstreams.ts';

const [before, after] = ['127.0.0.1', '127.0.0.2'] as const;

describe('the life of a connection to an upstream', () => {
  let bed: PolicyBed;
  let clock: ManualClock;
  let address: string;
  let connections: Socket[];
  let finish: (() => void)[];
  const servers: Server[] = [];
  const systemLookup = dns.lookup;
  beforeEach(async () => {
    clock = new ManualClock();
    bed = await PolicyBed.open({ clock });
    address = before;
    connections = [];
    finish = [];
    const lookup = (name: string, ...more: [object, (error: null, found: LookupAddress[]) => void]): void => {
      if (name === 'moving.test') setImmediate(more[1], null, [{ address, family: 4 }]);
      else Reflect.apply(systemLookup, dns, [name, ...more]);
    };
    Object.assign(dns, { lookup });
    syncBuiltinESMExports();
  });
  afterEach(async () => {
    Object.assign(dns, { lookup: systemLookup });
    syncBuiltinESMExports();
    for (const end of finish) end();
    await bed.end();
    for (const socket of connections) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  /** One port at both addresses; what it answers is its own address, `/slow` once `finish` says so. */
  async function atBoth(http2: boolean): Promise<number> {
    for (;;) {
      const [one, other] = [before, after].map((own) => {
        const answer: RequestListener = ({ url }, response) => {
          if (url === '/slow') {
            response.write('late ');
            finish.push(() => response.end(own));
          } else response.end(own);
        };
        const server = http2
          ? (createHttp2Server(answer as never) as unknown as Server)
          : createServer({ keepAliveTimeout: 0 }, answer);
        server.on('connection', (socket: Socket) => connections.push(socket));
        servers.push(server);
        return server;
      });
      if (one === undefined || other === undefined) throw new Error('no servers');
      await once(one.listen(0, before), 'listening');
      const { port } = one.address() as AddressInfo;
      // What is free at one address may be in use at the other.
      const free = await once(other.listen(port, after), 'listening').then(
        () => true,
        () => false,
      );
      if (free) return port;
    }
  }

  const serve = async (http2: boolean, options: object = {}): Promise<void> => {
    const port = await atBoth(http2);
    const { destinations, ...config } = bed.configuration([port]);
    const place = { id: 'd', name: 'd', host: 'moving.test', port, options: { http2, ...options } };
    await bed.install({ ...config, destinations: [place] });
  };
  const openConnections = (): number => connections.filter(({ destroyed }) => !destroyed).length;

  for (const http2 of [false, true]) {
    const version = http2 ? 'HTTP/2' : 'HTTP/1.1';

    it(`over ${version} ends when the name no longer has its address, however steady traffic is`, async () => {
      await serve(http2);
      expect(await bed.bodies(3)).to.deep.equal([before, before, before]);
      const slow = bed.ask({}, { path: '/slow' });
      await eventually(() => expect(finish).to.have.length(1));
      address = after;
      await eventually(async () => {
        clock.advance(1_000);
        expect((await bed.ask()).body).to.equal(after);
      });
      expect(await bed.bodies(3)).to.deep.equal([after, after, after]);
      // What was under way is not cut; its connection ends then.
      finish[0]?.();
      expect((await slow).body).to.equal(`late ${before}`);
      await eventually(() => {
        clock.advance(100);
        expect(connections.filter(({ destroyed, localAddress }) => !destroyed && localAddress === before)).to.be.empty;
      });
    });

    it(`over ${version} takes no new request once its age is over, and finishes those it has`, async () => {
      await serve(http2, { maxConnectionAge: '10s', timeouts: { idleConnection: '0s' } });
      expect(await bed.bodies(3)).to.deep.equal([before, before, before]);
      expect(connections).to.have.length(1);
      clock.advance(8_000);
      await bed.ask();
      expect(connections).to.have.length(1);
      const slow = bed.ask({}, { path: '/slow' });
      await eventually(() => expect(finish).to.have.length(1));
      clock.advance(2_200);
      expect((await bed.ask()).body).to.equal(before);
      expect(connections).to.have.length(2);
      finish[0]?.();
      expect((await slow).body).to.equal(`late ${before}`);
      await eventually(() => expect(openConnections()).to.equal(1));
      // One that nothing asks for any more ends as well.
      clock.advance(10_200);
      await eventually(() => expect(openConnections()).to.equal(0));
    });
  }
});
