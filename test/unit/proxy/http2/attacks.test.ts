// Attacks on one connection, as they were met (S05 to S09), while another client goes about its business.
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { Http2Client } from '../../../support/http2-client.ts';
import {
  block,
  END_HEADERS,
  END_STREAM,
  frame,
  framesIn,
  greeting,
  post,
  request,
  settings,
  uint32,
  WHOLE,
} from '../../../support/http2-frames.ts';
import { forwarding, ProxyBed, type RawClient } from '../../../support/proxy-bed.ts';

const headers = (id: number): Buffer => frame('HEADERS', END_HEADERS, id, post());
const calm = 11;

describe('HTTP/2 under attack', () => {
  let bed: ProxyBed;
  let port: number;
  let begun: number;
  let underWay: number;
  let client: Http2Client;
  beforeEach(async () => {
    bed = new ProxyBed();
    port = await freePort();
    begun = 0;
    underWay = 0;
    const upstreamPort = await bed.upstream((incoming, response) => {
      if (incoming.url === '/good') {
        response.end('good');
        return;
      }
      begun++;
      underWay++;
      response.on('close', () => underWay--);
    });
    await bed.install(forwarding(port, upstreamPort, { listener: { http2: true } }));
    client = new Http2Client(`http://127.0.0.1:${port}`);
  });
  afterEach(async () => {
    client.close();
    await bed.end();
  });

  const attack = async (
    part: (id: number) => Buffer,
    times: number,
    before: Buffer = Buffer.alloc(0),
  ): Promise<RawClient> => {
    const wire = bed.wire(port);
    const parts = Array.from({ length: times }, (_, i) => part(2 * i + 1));
    wire.send(Buffer.concat([greeting, before, ...parts]).toString('latin1'));
    expect((await client.ask({ ':path': '/good' })).body).to.equal('good');
    await eventually(() => expect(goAwayOf(wire)).to.not.equal(-1));
    await wire.untilClosed();
    expect((await client.ask({ ':path': '/good' })).body).to.equal('good');
    return wire;
  };
  const goAwayOf = (wire: RawClient): number => {
    const last = framesIn(Buffer.from(wire.received, 'latin1')).find(({ type }) => type === 'GOAWAY');
    return last === undefined ? -1 : last.payload.readUInt32BE(4);
  };

  for (const [what, part] of [
    ['S05 rapid reset', (id: number) => Buffer.concat([headers(id), frame('RST_STREAM', 0, id, uint32(8))])],
    ['S06 a window grown by 0', (id: number) => Buffer.concat([headers(id), frame('WINDOW_UPDATE', 0, id, uint32(0))])],
    [
      'S06 a window too large',
      (id: number) => Buffer.concat([headers(id), frame('WINDOW_UPDATE', 0, id, uint32(2 ** 31 - 1))]),
    ],
    [
      'S06 DATA behind the end',
      (id: number) => Buffer.concat([frame('HEADERS', WHOLE, id, request()), frame('DATA', 0, id, Buffer.from('x'))]),
    ],
    [
      'S06 HEADERS behind the end',
      (id: number) => Buffer.concat([frame('HEADERS', WHOLE, id, request()), frame('HEADERS', WHOLE, id, request())]),
    ],
    [
      'S06 trailers that end nothing',
      (id: number) => Buffer.concat([headers(id), frame('HEADERS', END_HEADERS, id, block(['a', 'b']))]),
    ],
    [
      'S06 priority on itself',
      (id: number) =>
        Buffer.concat([headers(id), frame('PRIORITY', 0, id, Buffer.concat([uint32(id), Buffer.from([1])]))]),
    ],
    [
      'S06 more than was announced',
      (id: number) =>
        Buffer.concat([
          frame('HEADERS', END_HEADERS, id, post(['content-length', '1'])),
          frame('DATA', END_STREAM, id, Buffer.from('xx')),
        ]),
    ],
  ] as [string, (id: number) => Buffer][]) {
    it(`${what}: few requests go upstream, and none stays open`, async () => {
      const wire = await attack(part, 5_000);
      expect(goAwayOf(wire)).to.equal(calm);
      expect(begun).to.be.lessThan(200);
      await eventually(() => expect(underWay).to.equal(0));
    });
  }

  it('S07 a header block without end is cut within a megabyte', async () => {
    const wire = await attack(
      () => frame('CONTINUATION', 0, 1, Buffer.alloc(16_000, 0x82)),
      200,
      frame('HEADERS', 0, 1, request()),
    );
    expect(goAwayOf(wire)).to.equal(calm);
    expect(begun).to.equal(0);
  });

  it('S08 heads that decode to much and get no response are bounded', async () => {
    const entry = Buffer.concat([Buffer.from('40016b7fa11e', 'hex'), Buffer.alloc(4_000, 0x76)]);
    const bomb = Buffer.concat([request(), Buffer.alloc(120, 0xbe)]);
    const wire = await attack(
      (id) => frame('HEADERS', WHOLE, id + 2, bomb),
      1_000,
      Buffer.concat([settings(4, 0), frame('HEADERS', WHOLE, 1, Buffer.concat([request(), entry]))]),
    );
    expect(goAwayOf(wire)).to.equal(calm);
    expect(begun).to.be.lessThan(10);
  });

  it('S09 floods and windows beyond the bounds end their connection', async () => {
    const overflow = await attack(() => frame('WINDOW_UPDATE', 0, 0, uint32(2 ** 31 - 1)), 10_000);
    expect(goAwayOf(overflow)).to.equal(3);
    for (const flood of [
      frame('PING', 0, 0, Buffer.alloc(8)),
      settings(4, 1_000),
      frame('PRIORITY', 0, 7, Buffer.alloc(5)),
    ]) {
      expect(goAwayOf(await attack(() => flood, 10_000))).to.equal(calm);
    }
    expect(begun).to.equal(0);
  });
});
