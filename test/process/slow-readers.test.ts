// S17 with streams: a hundred slow readers of 50 MB each on one connection, and others on the same one who read.
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startLoad } from '../support/load.ts';
import { memoryKbOf } from '../support/proc-figures.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const part = Buffer.alloc(50_000, 'x');
const parts = 1_000;
const readers = 100;
const boundKb = 64 << 10;

/** Largest buffer of the system for the writer, or for the reader, of one connection. */
const systemMax = (name: 'tcp_rmem' | 'tcp_wmem'): number =>
  Number(readFileSync(`/proc/sys/net/ipv4/${name}`, 'utf8').trim().split(/\s+/)[2]);

/** ENHANCE_YOUR_CALM. */
const calm = 11;
/** A process that got nothing to run on for so long looks like a hundred readers who do not read. */
const starvedMs = 500;
const attempts = 5;

describe(`${readers} slow readers of 50 MB on one connection`, () => {
  let sluice: SluiceProcess;
  let upstream: Upstream;
  let session: ClientHttp2Session;
  /** Code of the GOAWAY that has come. */
  let goAway = 0;
  let site: string;
  /** Parts that the upstream could hand over. */
  let handed = 0;

  before(async function () {
    if (process.platform !== 'linux') this.skip();
    upstream = await startUpstream('large', (request, response) => {
      response.on('error', () => {});
      if (request.url === '/small') response.end('ok');
      else {
        let left = parts;
        const more = (): void => {
          while (left > 0) {
            left--;
            handed++;
            if (!response.write(part)) return void response.once('drain', more);
          }
          response.end();
        };
        more();
      }
    });
    sluice = await startSluice();
    const api = apiClient(sluice.url);
    const port = await freePort();
    site = `http://127.0.0.1:${port}`;
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port, http2: true });
    await api.create('destinations', { id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port });
    await api.create('routes', { name: 'all', forward: { destinations: [{ destinationId: 'd' }] } });
    await api.activateAs('v1');
    const load = startLoad(`${site}/small`, 'ok', { pauseMs: 0 });
    await eventually(() => expect(load.served).to.be.greaterThan(5_000));
    await load.stop();
  });

  beforeEach(() => open());

  function open(): void {
    session?.destroy();
    goAway = 0;
    session = connect(site);
    session.on('connect', () => session.setLocalWindowSize(64 << 20));
    session.on('error', () => {});
    session.on('goaway', (code) => {
      goAway = code;
    });
  }

  after(async () => {
    session?.destroy();
    await sluice?.stop();
    await upstream?.close();
  });

  const memoryKb = (): number => memoryKbOf(sluice.child.pid);

  const ask = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      let length = 0;
      const stream = session.request({ ':path': path });
      stream.on('data', (chunk: Buffer) => {
        length += chunk.length;
      });
      stream.on('end', () => resolve(length)).on('error', reject);
      stream.on('close', () => reject(new Error(`cut, GOAWAY ${goAway}`)));
    });

  it('hold no memory beyond their windows, hold their upstreams back by backpressure, and delay no other client', async function () {
    this.timeout(600_000);
    for (let attempt = 1; ; attempt++) {
      let [lookedMs, longestMs] = [performance.now(), 0];
      const pulse = setInterval(() => {
        longestMs = Math.max(longestMs, performance.now() - lookedMs);
        lookedMs = performance.now();
      }, 20);
      try {
        return await read();
      } catch (error) {
        if (goAway !== calm || longestMs < starvedMs || attempt === attempts) throw error;
        open();
      } finally {
        clearInterval(pulse);
      }
    }
  });

  async function read(): Promise<void> {
    const handedBefore = handed;
    const startKb = memoryKb();
    let most = startKb;
    let readBytes = 0;
    const slow: ClientHttp2Stream[] = Array.from({ length: readers }, () => {
      const stream = session.request({ ':path': '/large' });
      stream.on('error', () => {});
      stream.on('data', (chunk: Buffer) => {
        readBytes += chunk.length;
        stream.pause();
        setTimeout(() => stream.resume(), 20);
      });
      return stream;
    });
    let whole = 0;
    // Each of the slow has had a fair share, and others had bodies of the same length whole in the same time.
    while (readBytes < readers * 500_000) {
      expect(await ask('/small')).to.equal(2);
      if (whole < 1 && readBytes > readers * 100_000) {
        expect(await ask('/large')).to.equal(part.length * parts);
        whole++;
      }
      most = Math.max(most, memoryKb());
    }
    expect(whole).to.be.greaterThan(0);
    expect(most - startKb).to.be.lessThan(boundKb);
    // What the upstreams could hand over is what was read, and what fits between here and there.
    const others = whole * parts;
    const between = 1 << 20;
    expect((handed - handedBefore - others) * part.length - readBytes).to.be.lessThan(
      readers * Math.min((parts * part.length) / 2, between + systemMax('tcp_rmem') + systemMax('tcp_wmem')),
    );
    for (const stream of slow) stream.close();
  }
});
