// Calls of middlewares to services: a span each, and the service is told of it.
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { GrpcService } from '../../../support/grpc-service.ts';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';
import { outline, type TraceBook, traceBook } from '../../../support/trace-book.ts';

describe('spans of services', () => {
  let book: TraceBook;
  let bed: MiddlewareBed;
  beforeEach(async () => {
    book = await traceBook(1);
    bed = new MiddlewareBed({ traces: book });
  });
  afterEach(async () => {
    await bed.end();
    await eventually(() => expect(book.open, 'spans that did not end').to.equal(0));
  });

  const events = () => book.spans.at(-1)?.events.map(({ attributes }) => attributes);
  const to = (port: number) => ({ more: { destinations: [{ id: 's', name: 's', host: '127.0.0.1', port }] } });

  it('extAuthz over HTTP, allowed and denied', async () => {
    let status = 200;
    const told: unknown[] = [];
    const port = await bed.bed.upstream((request, response) => {
      told.push(request.headers.traceparent);
      response.writeHead(status).end();
    });
    await bed.serve(
      [
        {
          type: 'extAuthz',
          extAuthz: { destinationId: 's', decisionTimeout: '30s', onCheck: { forwardHeaders: ['traceparent'] } },
        },
      ],
      to(port),
    );
    const headers = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
    await bed.ask({ headers });
    await book.served(1);
    expect(outline(book.spans)).to.deep.equal([
      'client GET < GET r: 200 well',
      'client GET < GET r: 200 well',
      'server GET r < away: 200 well',
    ]);
    expect(told).to.deep.equal([`00-${'a'.repeat(32)}-${book.spans[0]?.spanId}-01`]);
    expect(book.spans[0]?.attributes).to.include({ 'sluice.middleware': 'm0', 'sluice.destination': 's' });
    const called = {
      'sluice.middleware': 'm0',
      'sluice.middleware.type': 'extAuthz',
      'sluice.middleware.outcome': 'called',
    };
    expect(events()).to.deep.equal([called]);
    status = 403;
    await bed.ask({ headers });
    await book.served(2);
    expect(outline(book.spans.slice(3))).to.deep.equal([
      'client GET < GET r: 403 403 failed',
      'server GET r < away: 403 well',
    ]);
    const answered = { ...called, 'sluice.middleware.outcome': 'answered', 'http.response.status_code': 403 };
    expect(events()).to.deep.equal([called, answered]);
  });

  it('extAuthz that cannot be reached', async () => {
    await bed.serve([{ type: 'extAuthz', extAuthz: { destinationId: 's' } }], to(await freePort()));
    await bed.ask();
    await book.served(1);
    expect(outline(book.spans)).to.deep.equal([
      'client GET < GET r: unavailable failed',
      'server GET r < none: 403 well',
    ]);
  });

  it('extAuthz and extProc over gRPC', async () => {
    const metadata: unknown[] = [];
    const service = new GrpcService();
    service.hears = (name) => metadata.push(name);
    service.unary('extauthz.proto', 'extauthz.v1.Authorizer', 'Check', () => ({ allowed: true }));
    const authz = await service.start();
    const processor = new GrpcService();
    processor.hears = (name) => metadata.push(name);
    processor.stream('extproc.proto', 'extproc.v1.Processor', 'Process', (_request, stream) =>
      stream.write({ request_headers: {} }),
    );
    const proc = await processor.start();
    await bed.serve(
      [
        { type: 'extAuthz', extAuthz: { destinationId: 's', mode: 'grpc', decisionTimeout: '30s' } },
        { type: 'extProc', extProc: { destinationId: 'p', phaseTimeout: '30s', phases: { responseHeaders: 'skip' } } },
      ],
      {
        more: {
          destinations: [
            { id: 's', name: 's', host: '127.0.0.1', port: authz },
            { id: 'p', name: 'p', host: '127.0.0.1', port: proc },
          ],
        },
      },
    );
    await bed.ask();
    await book.served(1);
    const [check, ...others] = book.spans;
    expect(outline(book.spans).sort()).to.deep.equal([
      'client GET < GET r: 200 well',
      'client extauthz.v1.Authorizer/Check < GET r: well',
      'client extproc.v1.Processor/Process < GET r: well',
      'server GET r < none: 200 well',
    ]);
    expect(check?.attributes).to.include({ 'rpc.system.name': 'grpc', 'rpc.method': 'extauthz.v1.Authorizer/Check' });
    const process = others.find(({ name }) => name.startsWith('extproc'));
    expect(metadata).to.deep.equal([check, process].map((span) => `00-${span?.traceId}-${span?.spanId}-01`));
    service.stop();
    processor.stop();
  });

  it('extProc over HTTP: a span for each message', async () => {
    const told: unknown[] = [];
    const port = await bed.bed.upstream((request, response) => {
      told.push(request.headers.traceparent);
      request.resume().on('end', () => response.end(JSON.stringify({ action: 'requestHeaders' })));
    });
    await bed.serve(
      [{ type: 'extProc', extProc: { destinationId: 's', mode: 'http', phaseTimeout: '30s' } }],
      to(port),
    );
    await bed.ask();
    await book.served(1);
    const posts = book.spans.filter(({ name }) => name === 'POST');
    expect(posts.length).to.equal(2);
    expect(told).to.deep.equal(posts.map((span) => `00-${span.traceId}-${span.spanId}-01`));
  });

  it('are told of a trace that is not recorded as well', async () => {
    await bed.end();
    book = await traceBook(0);
    bed = new MiddlewareBed({ traces: book });
    const told: unknown[] = [];
    const port = await bed.bed.upstream((request, response) => {
      told.push(request.headers.traceparent);
      response.end();
    });
    await bed.serve([{ type: 'extAuthz', extAuthz: { destinationId: 's', decisionTimeout: '30s' } }], to(port));
    await bed.ask();
    expect(told).to.deep.equal([bed.lastSent('traceparent')]);
    expect(told[0]).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    await bed.ask({ headers: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00` } });
    expect(told[1]).to.equal(`00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`);
    expect(book.spans).to.deep.equal([]);
  });
});
