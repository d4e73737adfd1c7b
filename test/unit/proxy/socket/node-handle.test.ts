// Plain and TLS connections on sockets of Node (`proxy.sockets: node`) against sockets at their other end.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectSecurely, createSecureContext, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { NodeHandle } from '../../../../src/proxy/socket/node-handle.ts';
import { TcpSocket } from '../../../../src/proxy/socket/tcp-socket.ts';
import { SecureSocket } from '../../../../src/proxy/tls/secure-socket.ts';
import { alpnList } from '../../../../src/proxy/tls/tls-handle.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeCertificate } from '../../../support/made-certificates.ts';
import { listening } from '../../../support/proxy-bed.ts';

describe('a connection on a socket of Node', () => {
  let server: Server;
  let peer: Socket;
  let wire: TcpSocket | SecureSocket;
  let told: string[];
  let came: string;
  afterEach(async () => {
    wire.destroy();
    peer.destroy();
    server.close();
    await eventually(() => expect(wire.closed).to.equal(true));
  });

  const accept = async (): Promise<NodeHandle> => {
    told = [];
    came = '';
    server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const port = await listening(server);
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    peer = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
    const [socket] = await accepted;
    if (peer.connecting) await once(peer, 'connect');
    return new NodeHandle(socket);
  };
  const follow = (): void => {
    for (const event of ['end', 'close', 'drain'] as const) wire.on(event, () => told.push(event));
    wire.on('error', ({ code }) => told.push(code ?? 'error'));
    wire.receiver = {
      onBytes: (bytes, length) => {
        came += bytes.toString('latin1', 0, length);
      },
    };
  };
  const has = (text: string) => eventually(() => expect(came).to.equal(text));

  describe('without TLS', () => {
    beforeEach(async () => {
      wire = new TcpSocket(await accept(), { halfOpen: true });
      follow();
      wire.resume();
    });

    it('delivers what the peer sends, also in pieces of one byte', async () => {
      for (const letter of 'abcdef') peer.write(letter);
      await has('abcdef');
      expect(wire.remoteAddress).to.equal('127.0.0.1');
      expect(wire.tcp?.bytesRead).to.equal(6);
    });

    it('delivers more than one read buffer without a gap, and nothing while it is paused', async () => {
      wire.pause();
      const bytes = Array.from({ length: 40_000 }, (_, at) => `${at} `).join('');
      peer.write(bytes);
      await eventually(() => expect(peer.bytesWritten).to.equal(bytes.length));
      expect(came).to.equal('');
      wire.resume();
      await has(bytes);
    });

    it('writes on behind the end of its peer, then ends itself', async () => {
      let answer = '';
      peer.on('data', (chunk: Buffer) => {
        answer += chunk.toString('latin1');
      });
      peer.end('question');
      await eventually(() => expect(told).to.deep.equal(['end']));
      expect(came).to.equal('question');
      wire.write('answer', 'latin1');
      wire.end();
      await once(peer, 'end');
      expect(answer).to.equal('answer');
      await eventually(() => expect(told).to.contain('close'));
    });

    it('holds what the peer does not take, and drains', async () => {
      const bytes = Buffer.alloc(8_000_000, 'x');
      expect(wire.write(bytes)).to.equal(false);
      expect(wire.writableLength).to.be.greaterThan(0);
      let length = 0;
      peer.on('data', (chunk: Buffer) => {
        length += chunk.length;
      });
      await eventually(() => expect(length).to.equal(bytes.length));
      await eventually(() => expect([told, wire.writableLength]).to.deep.equal([['drain'], 0]));
    });

    it('ends with the reset of its peer', async () => {
      peer.resetAndDestroy();
      await eventually(() => expect([...told].sort()).to.deep.equal(['ECONNRESET', 'close']));
    });

    it('resets the connection for its peer', async () => {
      const codes: unknown[] = [];
      peer.on('error', ({ code }: NodeJS.ErrnoException) => codes.push(code)).resume();
      wire.resetAndDestroy();
      await eventually(() => expect(codes).to.deep.equal(['ECONNRESET']));
      await eventually(() => expect(told).to.deep.equal(['close']));
    });
  });

  describe('under TLS', () => {
    const { cert, key } = makeCertificate({ dnsNames: ['edge.test'], subject: [['CN', 'edge.test']] });
    const other = makeCertificate({ dnsNames: ['other.test'], subject: [['CN', 'other.test']] });
    const context = createSecureContext({ cert, key });
    let client: TLSSocket;
    const secure = async (options: { readonly servername?: string; readonly requireCertificate?: boolean }) => {
      const handle = await accept();
      const plain = new TcpSocket(handle, { halfOpen: true });
      client = connectSecurely({ socket: peer, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...options });
      client.on('error', () => {});
      const hello = await new Promise<Buffer>((resolve) => {
        plain.receiver = { onBytes: (bytes, length) => resolve(Buffer.from(bytes.subarray(0, length))) };
        plain.resume();
      });
      plain.pause();
      const { requireCertificate = false } = options;
      const secured = SecureSocket.accept(handle, {
        context: createSecureContext({}),
        protocols: alpnList(['http/1.1']),
        requestCertificate: requireCertificate,
        requireCertificate,
        choose: (name) => (name === 'other.test' ? createSecureContext(other) : context),
        nameless: () => context,
      });
      wire = secured;
      follow();
      secured.receive(hello);
      return secured;
    };

    for (const [servername, subject] of [
      ['other.test', 'CN=other.test'],
      ['edge.test', 'CN=edge.test'],
      [undefined, 'CN=edge.test'],
    ] as const)
      it(`shows the certificate for ${servername ?? 'no server name'} and carries bytes both ways`, async () => {
        const secured = await secure(servername === undefined ? {} : { servername });
        await Promise.all([
          once(client, 'secureConnect'),
          new Promise((done) => secured.once('secure', () => done(0))),
        ]);
        expect(client.getPeerX509Certificate()?.subject).to.equal(subject);
        expect([secured.serverName, secured.protocol]).to.deep.equal([servername ?? '', 'http/1.1']);
        secured.write('hello', 'latin1');
        client.write('world');
        const [chunk] = (await once(client, 'data')) as [Buffer];
        expect(chunk.toString()).to.equal('hello');
        await has('world');
      });

    it('refuses a client without the certificate that it requires', async () => {
      await secure({ servername: 'edge.test', requireCertificate: true });
      await eventually(() => expect(told.filter((event) => event.startsWith('ERR_SSL'))).to.have.lengthOf(1));
      await eventually(() => expect(told).to.contain('close'));
    });

    for (const [how, truncated] of [
      ['with a close_notify', false],
      ['without one', true],
    ] as const)
      it(`knows an end ${how}`, async () => {
        const secured = await secure({ servername: 'edge.test' });
        await once(client, 'secureConnect');
        client.write('last');
        if (truncated) await eventually(() => expect(came).to.equal('last'));
        if (truncated) peer.end();
        else client.end();
        await eventually(() => expect(told).to.contain('end'));
        expect([came, secured.truncated]).to.deep.equal(['last', truncated]);
      });
  });
});
