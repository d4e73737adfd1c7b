// An upstream that answers before the request's body is whole, and closes.
import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { freePort } from '../../support/free-port.ts';
import { makeCertificate } from '../../support/made-certificates.ts';
import { forwarding, ProxyBed } from '../../support/proxy-bed.ts';

const uploads = 100;
const piece = Buffer.alloc(64 * 1024, 'x');
const pieces = 64;

describe('an upstream’s early answer', () => {
  let bed: ProxyBed;
  let port: number;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
  });
  afterEach(() => bed.end());

  const earlyUpstream = async (tls?: { key: string; cert: string }): Promise<number> => {
    const worker = new Worker(new URL('../../support/early-upstream.mjs', import.meta.url), { workerData: { tls } });
    bed.atEnd(async () => void (await worker.terminate()));
    const [upstreamPort] = await once(worker, 'message');
    return upstreamPort;
  };

  /** Sends a body of 4 MiB without regard to the response, and returns the response. */
  const upload = (fields: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      let received = '';
      let sent = 0;
      const more = (): void => {
        while (sent++ < pieces) if (!socket.write(piece)) break;
        if (sent < pieces) socket.once('drain', more);
      };
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
        if (received.includes('too large') || received.startsWith('HTTP/1.1 502')) socket.destroy();
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve(received));
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${fields}\r\n`);
      more();
    });

  const statuses = async (fields: string): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (let i = 0; i < uploads; i++) {
      const status = (await upload(fields)).slice(9, 12) || 'none';
      counts[status] = (counts[status] ?? 0) + 1;
    }
    return counts;
  };
  const length = `Content-Length: ${piece.length * pieces}\r\n`;

  it('is not lost with the connection that its reset ends', async () => {
    await bed.install(forwarding(port, await earlyUpstream()));
    expect(await statuses(length)).to.deep.equal({ 413: uploads });
  });

  it('is not lost with the connection that its reset ends, under TLS', async () => {
    const { cert, key } = makeCertificate({ dnsNames: ['up.test'], authority: true });
    const upstreamPort = await earlyUpstream({ cert, key });
    const destination = { options: { tls: { mode: 'tls', ca: cert, sni: 'up.test' } } };
    await bed.install(forwarding(port, upstreamPort, { destination }));
    expect(await statuses(length)).to.deep.equal({ 413: uploads });
  });
});
