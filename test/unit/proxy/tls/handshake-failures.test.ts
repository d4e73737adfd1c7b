// Handshakes that do not succeed: counted by reason, and told in one line for all of a while.
import { connect as connectPlain } from 'node:net';
import { expect } from 'chai';
import type { Listener } from '../../../../src/model/listener.ts';
import type { ListenerTools } from '../../../../src/proxy/listener/listener-tools.ts';
import { OpenPort } from '../../../../src/proxy/listener/open-port.ts';
import { ClientLoad } from '../../../../src/proxy/shared/client-load.ts';
import { TicketSecrets } from '../../../../src/proxy/shared/ticket-secrets.ts';
import { UnfinishedHeads } from '../../../../src/proxy/socket/unfinished-heads.ts';
import { HandshakeFailures } from '../../../../src/proxy/tls/handshake-failures.ts';
import { Terminators } from '../../../../src/proxy/tls/terminators.ts';
import { Wheel } from '../../../../src/proxy/wheel.ts';
import { silentLogger } from '../../../../src/telemetry/logger.ts';
import { systemClock } from '../../../../src/util/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { makeCertificate } from '../../../support/made-certificates.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { ask } from '../../../support/secure-client.ts';

describe('handshakes that fail', () => {
  it('are logged in one line for ten seconds', () => {
    const clock = new ManualClock();
    const lines: object[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => void lines.push(fields) };
    const failures = new HandshakeFailures('edge', new Wheel(clock), logger);
    const pass = (ms: number): void => {
      for (let at = 0; at < ms; at += 50) clock.advance(50);
    };
    for (let i = 0; i < 1_000; i++) failures.count(i % 4 === 0 ? 'timeout' : 'client_closed');
    pass(9_900);
    expect(lines).to.deep.equal([]);
    pass(300);
    expect(lines).to.deep.equal([{ listener: 'edge', failures: 1_000, reasons: { timeout: 250, client_closed: 750 } }]);
    pass(20_000);
    failures.count('timeout');
    pass(10_200);
    expect(lines[1]).to.deep.equal({ listener: 'edge', failures: 1, reasons: { timeout: 1 } });
    expect([...failures.counts]).to.deep.equal([
      ['timeout', 251],
      ['client_closed', 750],
    ]);
  });

  it('are counted under no more than 64 reasons', () => {
    const failures = new HandshakeFailures('edge', new Wheel(new ManualClock()), silentLogger);
    for (let i = 0; i < 1_000; i++) failures.count(`reason-${i}`);
    expect(failures.counts.size).to.equal(65);
    expect([failures.total, failures.counts.get('other')]).to.deep.equal([1_000, 936]);
  });

  describe('on a port', () => {
    const authority = makeCertificate({ authority: true, subject: [['CN', 'Clients']] });
    const { cert, key } = makeCertificate({ dnsNames: ['own.test'] });
    const stranger = makeCertificate({ dnsNames: ['stranger.test'] });
    let open: OpenPort;
    let port: number;

    /** Enough for every client that says something, on a busy machine too. */
    const ample = '30s';
    const openWithin = async (clientHeader: string): Promise<void> => {
      port = await freePort();
      const clientAuth = { mode: 'require' as const, ca: authority.cert };
      const tls = { cert, key, clientAuth, unknownServerName: 'reject' as const };
      const listener: Listener = { id: 'edge', name: 'edge', port, tls, timeouts: { clientHeader } };
      const terminators = new Terminators(systemClock, new TicketSecrets());
      await terminators.prepare([listener]);
      const place = { address: '127.0.0.1', port };
      const clients = { load: new ClientLoad(ClientLoad.memory(1), 0), connectionsMax: 100, place: 0 };
      const installed = () => expect.fail('there is no request');
      const wheel = new Wheel(systemClock);
      const tools = {
        installed,
        clients,
        clock: systemClock,
        wheel,
        heads: new UnfinishedHeads(clients.load, wheel, 1 << 20, 1),
        telemetry: { logger: silentLogger },
      };
      const main = { listener, terminator: terminators.of(listener)?.terminator, memory: undefined };
      open = await OpenPort.open(place, { main }, tools as unknown as ListenerTools);
    };
    afterEach(() => open.close(0));

    const plain = (bytes: string): void => {
      const socket = connectPlain({ port, host: '127.0.0.1' });
      socket.on('error', () => {});
      socket.end(bytes);
    };
    const stalled = (): void => {
      const socket = connectPlain({ port, host: '127.0.0.1' });
      socket.on('error', () => {});
      socket.write('\x16\x03\x01');
    };
    const secured = (options: object) => (): void => void ask(port, options).catch(() => {});
    for (const [what, act, reason] of [
      ['speaks HTTP', () => plain('GET / HTTP/1.1\r\nHost: x\r\n\r\n'), 'http_request'],
      ['speaks something else', () => plain('\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'), 'wrong_version_number'],
      ['leaves within the handshake', () => plain('\x16\x03\x01'), 'client_closed'],
      ['stalls', stalled, 'timeout'],
      [
        'knows no version of ours',
        secured({ minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
        'unsupported_protocol',
      ],
      ['shows no certificate', secured({}), 'peer_did_not_return_a_certificate'],
      [
        "shows a stranger's",
        secured({ cert: stranger.cert, key: stranger.key }),
        'client_certificate_depth_zero_self_signed_cert',
      ],
      ['asks for a name that is not here', secured({ servername: 'other.test' }), 'unrecognized_name'],
      ['speaks another protocol', secured({ ALPNProtocols: ['imap'] }), 'no_application_protocol'],
    ] as const)
      it(`because the client ${what} count as ${reason}`, async () => {
        await openWithin(reason === 'timeout' ? '200ms' : ample);
        act();
        await eventually(() => expect([...(open.services[0]?.handshakeFailures ?? [])]).to.deep.equal([[reason, 1]]));
      });

    it('do not include connections that end before their first byte', async () => {
      await openWithin('200ms');
      plain('');
      plain('GET ');
      await eventually(() => expect([...(open.services[0]?.handshakeFailures ?? [])]).to.have.length(1));
      expect([...(open.services[0]?.handshakeFailures.values() ?? [])]).to.deep.equal([1]);
    });
  });
});
