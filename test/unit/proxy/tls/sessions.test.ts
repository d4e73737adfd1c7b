// Sessions that go on: with the tickets of this listener and this policy for client certificates, and no others.
import type { ConnectionOptions } from 'node:tls';
import { expect } from 'chai';
import { TicketSecrets, ticketLifeMs } from '../../../../src/proxy/shared/ticket-secrets.ts';
import { type Clock, systemClock } from '../../../../src/util/clock.ts';
import { freePort } from '../../../support/free-port.ts';
import { makeCertificate } from '../../../support/made-certificates.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { ProxyBed } from '../../../support/proxy-bed.ts';
import { ask } from '../../../support/secure-client.ts';

const authority = makeCertificate({ authority: true, subject: [['CN', 'Clients']] });
const others = makeCertificate({ authority: true, subject: [['CN', 'Others']] });
const agent = (({ cert, key }) => ({ cert, key }))(makeCertificate({ issuer: authority, uris: ['spiffe://a/agent'] }));
const own = (({ cert, key }) => ({ cert, key }))(makeCertificate({ dnsNames: ['own.test'] }));
const renewed = (({ cert, key }) => ({ cert, key }))(makeCertificate({ dnsNames: ['own.test'] }));

const both = ['TLSv1.2', 'TLSv1.3'] as const;

describe('TLS sessions', () => {
  let bed: ProxyBed;
  let port: number;
  let secondPort: number;
  let rotate: () => void;
  /** Like the system's, but that hours pass when a test says so. */
  const clock: Clock = {
    ...systemClock,
    after(delayMs, run) {
      if (delayMs < ticketLifeMs) return systemClock.after(delayMs, run);
      rotate = run;
      return () => {};
    },
  };
  beforeEach(async () => {
    bed = new ProxyBed({ clock });
    [port, secondPort] = [await freePort(), await freePort()];
  });
  afterEach(() => bed.end());

  const serve = (first: object, second: object = own): Promise<void> =>
    bed.install({
      listeners: [
        { id: 'first', name: 'first', port, tls: first },
        { id: 'second', name: 'second', port: secondPort, tls: second },
      ],
      routes: [{ id: 'r', name: 'r', directResponse: { status: 200, body: 'hello' } }],
    } as object);

  const again = (session: Buffer | undefined): ConnectionOptions => (session === undefined ? {} : { session });

  for (const version of both) {
    const only = { minVersion: version, maxVersion: version, servername: 'own.test' };

    it(`are resumed in ${version}, also after an activation with a renewed certificate`, async () => {
      await serve(own);
      const { session, reused } = await ask(port, only);
      expect(reused).to.equal(false);
      expect((await ask(port, { ...only, ...again(session) })).reused).to.equal(true);
      await serve(renewed);
      expect((await ask(port, { ...only, ...again(session) })).reused).to.equal(true);
    });

    it(`are resumed with the former key and get a ticket of the new one in ${version}`, async () => {
      await serve(own);
      const { session } = await ask(port, only);
      rotate();
      const next = await ask(port, { ...only, ...again(session) });
      expect(next.reused).to.equal(true);
      rotate();
      expect((await ask(port, { ...only, ...again(session) })).reused).to.equal(false);
      expect((await ask(port, { ...only, ...again(next.session) })).reused).to.equal(true);
    });

    it(`get another ticket each time, for clients that use each once, in ${version}`, async () => {
      await serve(own);
      const used = new Set<string>();
      let { session } = await ask(port, only);
      for (let time = 0; time < 3; time++) {
        used.add(session?.toString('base64') ?? '');
        const next = await ask(port, { ...only, ...again(session) });
        expect(next.reused).to.equal(true);
        ({ session } = next);
      }
      expect(used.size).to.equal(3);
    });

    it(`of one listener are not resumed by another in ${version}`, async () => {
      await serve(own);
      const { session } = await ask(port, only);
      expect((await ask(secondPort, { ...only, ...again(session) })).reused).to.equal(false);
    });

    it(`end when client certificates begin to be asked for, or another authority is trusted, in ${version}`, async () => {
      await serve(own);
      const { session } = await ask(port, only);
      const asking = (ca: string, mode = 'require') => ({ ...own, clientAuth: { mode, ca } });
      await serve(asking(authority.cert));
      const first = await ask(port, { ...only, ...agent, ...again(session) });
      expect(first.reused).to.equal(false);
      expect((await ask(port, { ...only, ...agent, ...again(first.session) })).reused).to.equal(true);
      await serve(asking(`${authority.cert}${others.cert}`));
      expect((await ask(port, { ...only, ...agent, ...again(first.session) })).reused).to.equal(false);
      await serve(asking(authority.cert, 'optional'));
      expect((await ask(port, { ...only, ...again(first.session) })).reused).to.equal(false);
    });
  }
});

describe('ticket secrets', () => {
  it('are two generations, the same for all threads', () => {
    const clock = new ManualClock();
    const main = new TicketSecrets();
    const worker = new TicketSecrets(main.buffer);
    const cancel = main.keepRotating(clock);
    const [first] = worker.read(worker.epoch);
    clock.advance(ticketLifeMs - 1);
    expect(worker.epoch).to.equal(0);
    clock.advance(1);
    const [second, former] = worker.read(worker.epoch);
    expect(former).to.deep.equal(first);
    expect(second).to.not.deep.equal(first);
    clock.advance(ticketLifeMs);
    const [third, beforeThird] = worker.read(worker.epoch);
    expect(beforeThird).to.deep.equal(second);
    expect(third).to.not.deep.equal(first);
    cancel();
    clock.advance(3 * ticketLifeMs);
    expect(worker.epoch).to.equal(2);
  });
});
