// `maxRequestBodyBytes` of listeners and routes (contract.md §2.2, §2.4).
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { compile } from '../../../../src/proxy/compile/compile.ts';
import { explain } from '../../../../src/proxy/explain/explain.ts';
import { ExplainedListener } from '../../../../src/proxy/explain/explained-listener.ts';
import { built } from '../../../../src/proxy/upstream/balance/hash-ring.ts';
import { eventually } from '../../../support/eventually.ts';
import { Http2Client } from '../../../support/http2-client.ts';
import { PolicyBed } from '../../../support/named-upstreams.ts';
import { configurationOf } from '../../../support/routing.ts';

const forward = { destinations: [{ destinationId: 'd' }] };
const routes = [
  { id: 'own', name: 'own', match: { pathPrefix: '/own' }, maxRequestBodyBytes: 20, forward },
  { id: 'any', name: 'any', match: { pathPrefix: '/any' }, maxRequestBodyBytes: 0, forward },
  { id: 'r', name: 'r', forward },
];

/** Path, bytes of the body, status. */
const rows = [
  ['/', 0, 200],
  ['/', 10, 200],
  ['/', 11, 413],
  ['/own', 20, 200],
  ['/own', 21, 413],
  ['/any', 100_000, 200],
] as const;

describe('a limit of request bodies', () => {
  let bed: PolicyBed;
  /** Requests that upstreams have seen begin, and those that came whole. */
  const begun: IncomingMessage[] = [];
  let whole = 0;
  const listener = { id: 'l', name: 'l', port: 0, http2: true, maxRequestBodyBytes: 10 };

  before(async () => {
    bed = await PolicyBed.open();
    const port = await bed.upstream((request, response) => {
      begun.push(request);
      request.resume();
      request.on('error', () => {});
      request.on('end', () => {
        whole++;
        response.end('ok');
      });
    });
    await bed.install({
      listeners: [{ ...listener, port: bed.port }],
      destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port }],
      routes,
    });
  });
  after(() => bed.end());
  beforeEach(() => {
    begun.length = 0;
    whole = 0;
  });

  for (const [path, bytes, status] of rows) {
    const what = `answers ${status} to ${bytes} bytes at ${path}`;

    it(`${what} with a length over HTTP/1.1`, async () => {
      const wire = bed.wire(bed.port);
      wire.send(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`);
      const text = await wire.until(new RegExp(`^HTTP/1.1 ${status} `));
      if (status !== 413) return;
      expect(await wire.until(/}/), text).to.include('"error":"body_too_large"');
      expect(begun).to.have.lengthOf(0);
    });

    it(`${what} in chunks over HTTP/1.1, and nothing whole goes upstream of what is too large`, async () => {
      const wire = bed.wire(bed.port);
      wire.send(`POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
      for (let left = bytes; left > 0; left -= 1_000) {
        const size = Math.min(left, 1_000);
        wire.send(`${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`);
      }
      wire.send('0\r\n\r\n');
      await wire.until(new RegExp(`^HTTP/1.1 ${status} `));
      expect(whole).to.equal(status === 200 ? 1 : 0);
    });

    it(`${what} over HTTP/2, with a length and without`, async () => {
      const client = new Http2Client(`http://127.0.0.1:${bed.port}`);
      try {
        const head = { ':method': 'POST', ':path': path };
        for (const fields of [head, { ...head, 'content-length': bytes }]) {
          const answer = await client.ask(fields, Buffer.alloc(bytes));
          expect(answer.status).to.equal(status);
          if (status === 413) expect(JSON.parse(answer.body)).to.include({ error: 'body_too_large', status: 413 });
        }
        expect(whole).to.equal(status === 200 ? 2 : 0);
      } finally {
        client.close();
      }
    });

    it(`${what} in an explanation`, () => {
      const { table } = compile(configurationOf({ routes }), { canRun: () => true });
      if (table === undefined) throw new Error('the table must compile');
      const question = { method: 'POST', url: `http://x${path}`, headers: {}, clientIp: '127.0.0.1' };
      const on = new ExplainedListener({ ...listener, port: 80 }, question);
      const { outcome } = built(explain(table, [], { ...question, body: 'x'.repeat(bytes), on }));
      if (status === 413) expect(outcome).to.include({ error: 'body_too_large', status });
      else expect(outcome).not.to.have.property('error', 'body_too_large');
    });
  }

  it('answers before the client is told to go on', async () => {
    const wire = bed.wire(bed.port);
    wire.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n');
    expect(await wire.until(/}/)).to.match(/^HTTP\/1.1 413 /);
  });

  it('resets the request of an upstream that reads while the body grows too large', async () => {
    const wire = bed.wire(bed.port);
    wire.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n');
    await eventually(() => expect(begun).to.have.lengthOf(1));
    wire.send('1\r\nx\r\n');
    await wire.until(/^HTTP\/1.1 413 /);
    await eventually(() => expect(begun[0]?.socket.destroyed).to.equal(true));
    expect(whole).to.equal(0);
  });
});
