// Mirrors that compare (contract.md §7.13): verdicts, their figures, and that the client notices nothing.
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { allKeptBytes } from '../../../../src/proxy/forward/mirror/kept-bytes.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { PolicyBed } from '../../../support/named-upstreams.ts';

interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

const json = { 'content-type': 'application/json' };

describe('mirrors that compare', () => {
  let bed: PolicyBed;
  beforeEach(async () => {
    bed = await PolicyBed.open();
  });
  afterEach(async () => {
    await bed.end();
    expect(allKeptBytes()).to.equal(0);
  });

  const answering = (reply: Reply) => (_: string, incoming: NodeJS.ReadableStream, response: ServerResponse) => {
    incoming.resume().on('end', () => {
      response.writeHead(reply.status ?? 200, reply.headers ?? json).end(reply.body ?? '');
    });
  };

  const serve = async (
    primary: Reply,
    mirror: Reply | number,
    compare: object = {},
    options: object = {},
  ): Promise<void> => {
    const [port = 0] = await bed.named(['primary'], answering(primary));
    const other = typeof mirror === 'number' ? mirror : ((await bed.named(['m'], answering(mirror)))[0] ?? 0);
    await bed.balanced(
      [port],
      {},
      { mirror: { destinationId: 'm', compare } },
      { destinations: [{ id: 'm', name: 'm', host: '127.0.0.1', port: other, options }] },
    );
  };

  /** Asks once, and waits for the comparison. */
  const verdict = async (compared: number, method = 'GET') => {
    const answer = await bed.ask({}, { method });
    await eventually(() => expect(bed.proxy.figures('stable').mirror?.compared).to.equal(compared));
    const { mismatched = 0 } = bed.proxy.figures('stable').mirror ?? {};
    await eventually(() => expect(bed.proxy.mismatches.list(100)).to.have.length(mismatched));
    return { answer, mismatched, found: bed.proxy.mismatches.list(10)[0] };
  };

  it('are the same where JSON differs in order, blanks and ignored members alone', async () => {
    await serve({ body: '{"a":1,"at":"x"}' }, { body: '{ "at":"y", "a":1 }' }, { ignore: ['/at'] });
    const { answer, mismatched, found } = await verdict(1);
    expect(answer).to.include({ status: 200, body: '{"a":1,"at":"x"}' });
    expect({ mismatched, found }).to.deep.equal({ mismatched: 0, found: undefined });
  });

  it('name status before headers and headers before bodies', async () => {
    const text = { 'content-type': 'text/plain' };
    await serve({ body: '{"a":1}' }, { status: 404, headers: text, body: 'no' });
    expect((await verdict(1)).found).to.deep.include({
      ...{ result: 'status', method: 'GET', path: '/', route: 'r', destination: 'm', pointer: null, header: null },
      ...{ primary: { status: 200, value: null }, mirror: { status: 404, value: null } },
    });
    await serve({ body: '{"a":1}' }, { headers: text, body: 'no' });
    expect((await verdict(2)).found).to.deep.include({
      ...{ result: 'headers', header: 'content-type' },
      ...{ primary: { status: 200, value: 'application/json' }, mirror: { status: 200, value: 'text/plain' } },
    });
    await serve({ body: '{"a":1}' }, { headers: text, body: '{"a":2}' }, { headers: [] });
    expect((await verdict(3)).found).to.deep.include({
      ...{ result: 'body', pointer: '/a', primary: { status: 200, value: '1' }, mirror: { status: 200, value: '2' } },
    });
  });

  it('read a coded body of JSON, and compare by bytes what is none', async () => {
    const headers = { ...json, 'content-encoding': 'gzip' };
    await serve({ body: '{"a":1,"b":2}' }, { headers, body: gzipSync('{"b":2,"a":1}') });
    expect((await verdict(1)).mismatched).to.equal(0);
    await serve({ body: 'abcdef' }, { body: 'abcxyz' });
    expect((await verdict(2)).found).to.deep.include({
      ...{ pointer: null, primary: { status: 200, value: 'def' }, mirror: { status: 200, value: 'xyz' } },
    });
  });

  it('compare bodies beyond the limit by length and SHA-256', async () => {
    const body = 'b'.repeat(1 << 20);
    await serve({ body }, { body }, { maxBytes: '1KiB' });
    expect((await verdict(1)).mismatched).to.equal(0);
    await serve({ body }, { body: `${body.slice(1)}x` }, { maxBytes: '1KiB' });
    const { found, answer } = await verdict(2);
    expect(answer.body).to.equal(body);
    expect(found?.primary.value).to.match(/^1048576 bytes, SHA-256 [0-9a-f]{64}$/);
    expect(found?.mirror.value).not.to.equal(found?.primary.value);
  });

  it('keep bodies of many parts within the limit whole', async () => {
    const body = 'c'.repeat(1 << 20);
    const compare = { body: 'bytes', maxBytes: '1MiB' };
    await serve({ body }, { body }, compare);
    expect((await verdict(1)).mismatched).to.equal(0);
    await serve({ body }, { body: `${body.slice(1)}x` }, compare);
    const { found, answer } = await verdict(2);
    expect(answer.body).to.equal(body);
    expect([found?.primary.value, found?.mirror.value]).to.deep.equal(['c', 'x']);
  });

  it('count a mirror that does not answer as another status', async () => {
    await serve({ body: '1' }, await freePort());
    const { found } = await verdict(1);
    expect(found).to.deep.include({ result: 'status', mirror: { status: 0, value: 'connection_refused' } });
  });

  it('compare responses without a body', async () => {
    await serve({ body: '1' }, { body: '2' });
    expect((await verdict(1, 'HEAD')).mismatched).to.equal(0);
  });

  it('look at no body where none is compared, also where that of the mirror breaks off', async () => {
    const [port = 0] = await bed.named(['m'], (_, incoming, response) => {
      incoming.resume().on('end', () => {
        response.writeHead(200, { ...json, 'content-length': 10 }).write('1');
        setTimeout(() => response.destroy(), 50);
      });
    });
    await serve({ body: '1' }, port, { body: 'none' });
    expect((await verdict(1)).mismatched).to.equal(0);
    await serve({ body: '1' }, port, { body: 'bytes' });
    expect((await verdict(2)).found).to.deep.include({ result: 'body' });
  });

  it('count a mirror that is too late for its own limit as another status', async () => {
    const [port = 0] = await bed.named(['m'], (_, incoming) => void incoming.resume());
    await serve({ body: '1' }, port, {}, { timeouts: { request: '200ms' } });
    expect((await verdict(1)).found).to.deep.include({ result: 'status', mirror: { status: 0, value: 'timeout' } });
  });

  it('say nothing where the request itself has no response', async () => {
    await serve({ body: '1' }, { body: '2' });
    const [mirror = 0] = await bed.named(['m'], answering({ body: '1' }));
    await bed.balanced(
      [await freePort()],
      {},
      { mirror: { destinationId: 'm', compare: {} } },
      { destinations: [{ id: 'm', name: 'm', host: '127.0.0.1', port: mirror }] },
    );
    expect((await bed.ask()).status).to.equal(502);
    expect(bed.proxy.figures('stable').mirror).to.equal(undefined);
  });

  /** A second route has the mirror's destination for its own, so that its circuit is seen from outside. */
  const breaking = async (mirror: number, options: object, more: object = {}) => {
    const [port = 0] = await bed.named(['primary'], answering({ body: '1' }));
    const [d, m] = [{ destinations: [{ destinationId: 'd' }] }, { destinations: [{ destinationId: 'm' }] }];
    const forward = { ...d, mirror: { destinationId: 'm', compare: {} } };
    await bed.balanced([port], {}, {}, {
      destinations: [{ id: 'm', name: 'm', host: '127.0.0.1', port: mirror, options, ...more }],
      routes: [
        { id: 'r', name: 'r', match: { pathPrefix: '/' }, forward },
        { id: 'own', name: 'own', match: { path: '/own' }, forward: m },
      ],
    } as Parameters<typeof bed.balanced>[3]);
  };
  const opening = { circuitBreaker: { failureThreshold: 1, openDuration: '10m' } };
  const own = async () => {
    const { status, body } = await bed.ask({}, { path: '/own' });
    return body.includes('circuit_open') ? 'circuit_open' : status;
  };

  it('open their circuit by a response of 500, and not by one of 499', async () => {
    let status = 499;
    const [mirror = 0] = await bed.named(['m'], (_, incoming, response) => {
      incoming.resume().on('end', () => response.writeHead(status, json).end('1'));
    });
    await breaking(mirror, opening);
    await verdict(1);
    expect(await own()).to.equal(499);
    status = 500;
    await verdict(2);
    expect(await own()).to.equal('circuit_open');
  });

  it('open their circuit where they cannot be reached', async () => {
    await breaking(await freePort(), opening);
    await verdict(1);
    expect(await own()).to.equal('circuit_open');
  });

  it('eject an endpoint that cannot be reached', async () => {
    const live = (await bed.named(['m'], answering({ body: '1' })))[0] ?? 0;
    const endpoints = [await freePort(), live].map((port) => ({ host: '127.0.0.1', port }));
    const outlierDetection = { consecutiveGatewayErrors: 1, baseEjectionTime: '10m', maxEjectionPercent: 70 };
    await breaking(live, { outlierDetection }, { endpoints });
    for (let asked = 1; asked <= 6; asked++) await verdict(asked);
    expect(bed.proxy.figures('stable').mirror).to.deep.equal({ compared: 6, mismatched: 1 });
  });

  it('neither compare nor count a copy that finds no place among those that wait for a connection', async () => {
    const held: (() => void)[] = [];
    let holds = true;
    const [mirror = 0] = await bed.named(['m'], (_, incoming, response) => {
      const answer = () => response.writeHead(200, json).end('1');
      incoming.resume().on('end', () => (holds ? held.push(answer) : answer()));
    });
    const circuitBreaker = { ...opening.circuitBreaker, maxPendingRequests: 1 };
    await breaking(mirror, { maxConnsPerHost: 1, circuitBreaker });
    expect(await bed.bodies(3)).to.deep.equal(['1', '1', '1']);
    await eventually(() => expect(held).to.have.length(1));
    holds = false;
    held.pop()?.();
    await eventually(() => expect(bed.proxy.figures('stable').mirror).to.include({ compared: 2, mismatched: 0 }));
    expect(await own()).to.equal(200);
  });

  it('compare no more than the sample', async () => {
    await serve({ body: '1' }, { body: '2' }, { sample: 0 });
    await bed.bodies(20);
    expect(bed.proxy.figures('stable').mirror).to.equal(undefined);
  });
});
