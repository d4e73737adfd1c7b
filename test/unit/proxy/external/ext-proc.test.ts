import { createServer, type Server } from 'node:http';
import { constants, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { expect } from 'chai';
import type { ExtProcConfig } from '../../../../src/model/middleware/ext-proc-options.ts';
import { eventually } from '../../../support/eventually.ts';
import { freePort } from '../../../support/free-port.ts';
import { type Fields, GrpcService, type Process } from '../../../support/grpc-service.ts';
import { logCapture } from '../../../support/log-capture.ts';
import { MiddlewareBed, type Surroundings } from '../../../support/middleware-bed.ts';
import { listening } from '../../../support/proxy-bed.ts';

type Answers = (message: Fields) => Fields | string | undefined;

describe('extProc', () => {
  let bed: MiddlewareBed;
  let messages: Fields[];
  beforeEach(() => {
    bed = new MiddlewareBed();
    messages = [];
  });
  afterEach(() => bed.end());

  const processedBy = (port: number, config: Partial<ExtProcConfig> = {}, route: Surroundings['route'] = {}) =>
    bed.serve([{ type: 'extProc', extProc: { destinationId: 'proc', phaseTimeout: '60s', ...config } }], {
      route,
      more: { destinations: [{ id: 'proc', name: 'proc', host: '127.0.0.1', port }] },
    });

  /** Answers every message over HTTP; a string is sent as it is, undefined never. */
  const http = async (answer: Answers): Promise<number> => {
    return bed.bed.upstream((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const message = JSON.parse(Buffer.concat(chunks).toString()) as Fields;
        messages.push(message);
        const said = answer(message);
        if (said !== undefined) response.end(typeof said === 'string' ? said : JSON.stringify(said));
      });
    });
  };

  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const bodyOf = (message: Fields | undefined): string => Buffer.from(String(message?.body ?? ''), 'base64').toString();
  const echo: Answers = ({ phase }) => ({ action: phase });
  const all = {
    requestHeaders: 'send',
    responseHeaders: 'send',
    requestBody: 'buffered',
    responseBody: 'buffered',
  } as const;

  describe('over HTTP', () => {
    it('shows the four phases in order, with their pseudo-headers and the end of the stream', async () => {
      await processedBy(await http(echo), { mode: 'http', phases: all });
      const { status, body } = await bed.ask({ method: 'POST', path: '/a?b', headers: { 'X-A': '1' }, body: 'in' });
      expect([status, body, bed.lastBody]).to.deep.equal([200, 'upstream', 'in']);
      expect(messages.map(({ phase, endOfStream }) => [phase, endOfStream])).to.deep.equal([
        ['requestHeaders', false],
        ['requestBody', true],
        ['responseHeaders', false],
        ['responseBody', true],
      ]);
      const pairs = (messages[0]?.headers ?? []) as { key: string; value: string }[];
      expect(pairs.slice(-4)).to.deep.equal([
        { key: ':method', value: 'POST' },
        { key: ':path', value: '/a?b' },
        { key: ':authority', value: `127.0.0.1:${bed.port}` },
        { key: ':scheme', value: 'http' },
      ]);
      expect(pairs).to.deep.include({ key: 'x-a', value: '1' });
      expect((messages[2]?.headers as unknown[] | undefined)?.at(-1)).to.deep.equal({ key: ':status', value: '200' });
      expect([bodyOf(messages[1]), bodyOf(messages[3])]).to.deep.equal(['in', 'upstream']);
    });

    it('shows no request body phase for a request that can carry none, and one empty message for an empty one', async () => {
      await processedBy(await http(echo), { mode: 'http', phases: { ...all, responseBody: 'none' } });
      await bed.ask();
      expect(messages.map(({ phase, endOfStream }) => [phase, endOfStream])).to.deep.equal([
        ['requestHeaders', true],
        ['responseHeaders', false],
      ]);
      messages.length = 0;
      await bed.ask({ method: 'POST', headers: { 'content-length': '0' } });
      expect(messages.slice(0, 2).map(({ phase, body }) => [phase, body])).to.deep.equal([
        ['requestHeaders', undefined],
        ['requestBody', undefined],
      ]);
    });

    for (const [what, ask, status] of [
      ['without a body', {}, 204],
      ['to HEAD', { method: 'HEAD' }, 200],
    ] as const) {
      it(`shows the body of a response ${what} as an empty one`, async () => {
        const port = await http(({ phase }) => ({
          action: phase,
          ...(phase === 'responseBody' && { setHeaders: [{ key: 'x-seen', value: 's' }], replaceBody: base64('none') }),
        }));
        await processedBy(port, { mode: 'http', phases: all });
        bed.answer = { ...bed.answer, status };
        const answer = await bed.ask(ask);
        expect([answer.status, answer.headers['x-seen'], answer.body]).to.deep.equal([status, 's', '']);
        expect(messages.map(({ phase, endOfStream, body }) => [phase, endOfStream, body])).to.deep.equal([
          ['requestHeaders', true, undefined],
          ['responseHeaders', true, undefined],
          ['responseBody', true, undefined],
        ]);
        messages.length = 0;
        await processedBy(port, { mode: 'http', phases: all, observeMode: { enabled: true } });
        await bed.ask(ask);
        await eventually(() => expect(messages.map(({ phase }) => phase)).to.include('responseBody'));
      });
    }

    it('changes headers and bodies of both directions, and their lengths', async () => {
      const port = await http(({ phase }) => {
        if (phase === 'requestHeaders')
          return { action: phase, setHeaders: [{ key: 'x-new', value: 'n' }], removeHeaders: ['x-old'] };
        if (phase === 'responseHeaders') return { action: phase, setHeaders: [{ key: 'x-seen', value: 's' }] };
        return {
          action: phase,
          replaceBody: base64(`new ${String(phase)}`),
          setHeaders: [{ key: `x-${String(phase)}`, value: 'b' }],
        };
      });
      await processedBy(port, { mode: 'http', phases: all });
      const { headers, body } = await bed.ask({ method: 'POST', headers: { 'x-old': 'o' }, body: 'in' });
      expect([bed.lastSent('x-new'), bed.lastSent('x-old'), bed.lastBody]).to.deep.equal([
        'n',
        undefined,
        'new requestBody',
      ]);
      expect(bed.lastSent('content-length')).to.equal(String('new requestBody'.length));
      expect(bed.lastSent('x-requestbody')).to.equal('b');
      expect([headers['x-seen'], headers['x-responsebody'], body]).to.deep.equal(['s', 'b', 'new responseBody']);
      expect(headers['content-length']).to.equal(String('new responseBody'.length));
    });

    for (const [value, host] of [
      ['other.test:81', 'other.test:81'],
      ['a b', 'shop.test'],
      ['a/b', 'shop.test'],
      ['me@a', 'shop.test'],
      ['', 'shop.test'],
    ] as const)
      it(`${value === host ? 'sets the host' : 'leaves the host as it is'} where the processor says ${JSON.stringify(value)}`, async () => {
        const port = await http(({ phase }) => ({ action: phase, setHeaders: [{ key: 'Host', value }] }));
        await processedBy(port, { mode: 'http', phases: { responseHeaders: 'skip' } });
        expect((await bed.ask({ headers: { host: 'shop.test' } })).status).to.equal(200);
        expect(bed.lastSent('host')).to.equal(host);
      });

    it('clears a body, which wins over replacing it', async () => {
      const port = await http(({ phase }) => ({ action: phase, clearBody: true, replaceBody: base64('x') }));
      await processedBy(port, { mode: 'http', phases: { ...all, requestHeaders: 'skip', responseHeaders: 'skip' } });
      const { body, headers } = await bed.ask({ method: 'POST', body: 'in' });
      expect([bed.lastBody, bed.lastSent('content-length'), body, headers['content-length']]).to.deep.equal([
        '',
        '0',
        '',
        '0',
      ]);
    });

    it('with continueAndReplace puts a body in place and skips the rest of the direction', async () => {
      const port = await http(({ phase }) =>
        phase === 'requestHeaders'
          ? { action: phase, status: 'continueAndReplace', replaceBody: base64('other') }
          : { action: phase },
      );
      await processedBy(port, { mode: 'http', phases: all });
      await bed.ask({ method: 'POST', body: 'in' });
      expect(bed.lastBody).to.equal('other');
      expect(messages.map(({ phase }) => phase)).to.deep.equal(['requestHeaders', 'responseHeaders', 'responseBody']);
    });

    for (const phase of ['requestHeaders', 'requestBody', 'responseHeaders', 'responseBody'] as const) {
      it(`rejects in phase ${phase}: the client gets the answer, 403 when it names no status`, async () => {
        const rejectHeaders = [{ key: 'x-why', value: 'w' }];
        const port = await http((message) =>
          message.phase === phase
            ? { action: 'reject', rejectHeaders, rejectBody: base64('no') }
            : { action: message.phase },
        );
        await processedBy(port, { mode: 'http', phases: all });
        const { status, headers, body } = await bed.ask({ method: 'POST', body: 'in' });
        expect([status, headers['x-why'], body]).to.deep.equal([403, 'w', 'no']);
        expect(bed.reached).to.have.length(phase.startsWith('request') ? 0 : 1);
        await processedBy(port, { mode: 'http', phases: all, disableReject: true });
        expect((await bed.ask({ method: 'POST', body: 'in' })).body).to.equal('upstream');
      });
    }

    it('lets no rejection begin a field, or a response, of its own by a line break', async () => {
      const rejectHeaders = [
        { key: 'x-split', value: 'a\r\nx-begun: b\r\n\r\nHTTP/1.1 200 OK' },
        { key: 'x-name: c\r\nx-begun', value: 'b' },
        { key: '', value: 'nameless' },
        { key: 'content-length', value: '99' },
        { key: 'connection', value: 'x-why' },
        { key: 'x-why', value: 'w' },
      ];
      await processedBy(await http(() => ({ action: 'reject', rejectHeaders, rejectBody: base64('no') })), {
        mode: 'http',
      });
      const { status, headers, body } = await bed.ask();
      expect([status, headers['x-why'], headers['content-length'], body]).to.deep.equal([403, 'w', '2', 'no']);
      expect(headers).to.not.have.any.keys('x-split', 'x-name', 'x-begun', '');
    });

    it('lets the processor change and see only what the rules allow', async () => {
      const setHeaders = [
        { key: 'x-ok', value: '1' },
        { key: 'x-no', value: '1' },
        { key: 'y', value: '1' },
      ];
      await processedBy(
        await http(({ phase }) => ({ action: phase, setHeaders, removeHeaders: ['x-no-either', 'x-kept'] })),
        {
          mode: 'http',
          allowedMutations: { allowHeaders: ['x-*'], denyHeaders: ['x-no*'] },
          forwardRules: { allowHeaders: ['x-*'], denyHeaders: ['x-secret'] },
        },
      );
      await bed.ask({ headers: { 'x-no-either': 'e', 'x-kept': 'k', 'x-secret': 's', z: 'z' } });
      expect(['x-ok', 'x-no', 'y', 'x-no-either', 'x-kept'].map((name) => bed.lastSent(name))).to.deep.equal([
        '1',
        undefined,
        undefined,
        'e',
        undefined,
      ]);
      const seen = ((messages[0]?.headers ?? []) as { key: string }[])
        .map(({ key }) => key)
        .filter((key) => !key.startsWith(':'));
      expect(seen).to.deep.equal(['x-no-either', 'x-kept']);
    });

    it('bufferedPartial shows the beginning and forwards the whole', async () => {
      const phases = { requestBody: 'bufferedPartial', maxBodyBytes: 4 } as const;
      await processedBy(await http(echo), { mode: 'http', phases });
      await bed.ask({ method: 'POST', body: '0123456789' });
      expect(bodyOf(messages[1])).to.equal('0123');
      expect([messages[1]?.endOfStream, bed.lastBody]).to.deep.equal([true, '0123456789']);
    });

    it('streamed shows pieces of 32 KiB, and only the last answer takes effect, on the whole body', async () => {
      const port = await http(({ phase, endOfStream }) => ({
        action: phase,
        replaceBody: base64(endOfStream ? 'last' : 'not this'),
      }));
      await processedBy(port, {
        mode: 'http',
        phases: { requestHeaders: 'skip', responseHeaders: 'skip', requestBody: 'streamed' },
      });
      await bed.ask({ method: 'POST', body: 'x'.repeat(70_000) });
      expect(messages.map((message) => [bodyOf(message).length, message.endOfStream])).to.deep.equal([
        [32_768, false],
        [32_768, false],
        [4_464, true],
      ]);
      expect(bed.lastBody).to.equal('last');
    });

    // The connection that a body had come from whole was another exchange's by then, and the head was the other's too.
    it('gives each response its own head when bodies are held and connections go on with other requests', async () => {
      const upstream = await bed.bed.upstream((request, response) => {
        response.setHeader('x-path', request.url ?? '');
        request.resume().on('end', () => response.end(`body of ${request.url}`));
      });
      const slow = await http(echo);
      await bed.serve(
        [{ type: 'extProc', extProc: { destinationId: 'proc', mode: 'http', phaseTimeout: '60s', phases: all } }],
        {
          route: { forward: { destinations: [{ destinationId: 'up' }] } },
          more: {
            destinations: [
              { id: 'proc', name: 'proc', host: '127.0.0.1', port: slow },
              { id: 'up', name: 'up', host: '127.0.0.1', port: upstream, options: { maxConnsPerHost: 2 } },
            ],
          },
        },
      );
      const paths = Array.from({ length: 40 }, (_, i) => `/${'x'.repeat(i)}`);
      const answers = await Promise.all(paths.map((path) => bed.ask({ path })));
      expect(answers.map(({ status, headers, body }) => [status, headers['x-path'], body])).to.deep.equal(
        paths.map((path) => [200, path, `body of ${path}`]),
      );
    });

    // Regression: the loss came before the body had a reader, was reported to none, and the client waited for ever.
    it('cuts a response that an upstream of HTTP/2 resets while the processor is shown its head', async () => {
      const reset = Promise.withResolvers<void>();
      let cut = (): void => {};
      const website = createHttp2Server().on('stream', (stream: ServerHttp2Stream) => {
        stream.on('error', () => {}).on('close', () => reset.resolve());
        stream.respond({ ':status': 200, 'content-length': '1000' });
        stream.write('a part');
        cut = () => stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      });
      const port = await listening(website as unknown as Server);
      const processor = createServer((request, response) => {
        request.resume();
        cut();
        void reset.promise.then(() => response.end(JSON.stringify({ action: 'responseHeaders' })));
      });
      bed.bed.atEnd(async () => {
        processor.close();
        processor.closeAllConnections();
        website.close();
      });
      const phases = { requestHeaders: 'skip', responseHeaders: 'send', responseBody: 'buffered' } as const;
      await bed.serve(
        [{ type: 'extProc', extProc: { destinationId: 'proc', mode: 'http', phaseTimeout: '60s', phases } }],
        {
          route: { forward: { destinations: [{ destinationId: 'up' }] } },
          more: {
            destinations: [
              { id: 'proc', name: 'proc', host: '127.0.0.1', port: await listening(processor) },
              { id: 'up', name: 'up', host: '127.0.0.1', port, options: { http2: true } },
            ],
          },
        },
      );
      const failure = await bed.ask().then(
        ({ status }) => String(status),
        () => 'cut',
      );
      expect(failure).to.equal('cut');
    });

    it('takes an answer to another phase for none', async () => {
      await processedBy(await http(() => ({ action: 'responseBody', setHeaders: [{ key: 'x-a', value: '1' }] })), {
        mode: 'http',
      });
      expect((await bed.ask()).body).to.equal('upstream');
      expect(bed.lastSent('x-a')).to.equal(undefined);
    });

    it('answers statusOnError for an invalid answer, and goes on with allowOnError', async () => {
      let answer: Fields | string | undefined;
      const port = await http(() => answer);
      for (answer of ['rubbish', '[]', '{}', '{"action":"dance"}', undefined]) {
        const late = answer === undefined ? { phaseTimeout: '50ms' } : {};
        await processedBy(port, { mode: 'http', statusOnError: 502, ...late });
        const closed = await bed.ask();
        expect(closed.status, String(answer)).to.equal(502);
        expect(closed.body).to.match(/^\{"error":"ext_proc: .+"\}$/);
        expect(closed.headers['content-type']).to.equal('application/json');
      }
      expect(bed.reached).to.have.length(0);
      await processedBy(port, { mode: 'http', allowOnError: true, phaseTimeout: '50ms' });
      expect((await bed.ask()).body).to.equal('upstream');
    });

    it('takes an answer with a field of another type for none', async () => {
      let answer: Fields = {};
      await processedBy(await http(({ phase }) => ({ action: phase, ...answer })), { mode: 'http', phases: all });
      for (const [field, value, expected] of [
        ['removeHeaders', 'x-a', 'a list of texts'],
        ['removeHeaders', ['x-a', 1], 'a list of texts'],
        ['setHeaders', { 'x-a': 'b' }, 'a list of {"key","value"}'],
        ['setHeaders', [{ key: 'x-a', value: 1 }], 'a list of {"key","value"}'],
        ['replaceBody', '!!', 'base64'],
        ['replaceBody', 'YWJjZ', 'base64'],
        ['clearBody', 'true', 'true or false'],
        ['rejectStatus', '429', 'an integer'],
        ['status', 1, 'a text'],
      ] as const) {
        answer = { [field]: value };
        const { status, body } = await bed.ask({ method: 'POST', headers: { 'x-a': '1' }, body: 'in' });
        const error = `ext_proc: ${field} of the answer is not ${expected}`;
        expect([status, body]).to.deep.equal([500, JSON.stringify({ error })]);
      }
      expect(bed.reached).to.have.length(0);
      answer = { removeHeaders: null, setHeaders: [{ key: 'x-empty' }], replaceBody: 'YQ', status: null };
      await bed.ask({ method: 'POST', headers: { 'x-a': '1' }, body: 'in' });
      expect([bed.lastSent('x-a'), bed.lastSent('x-empty'), bed.lastBody]).to.deep.equal(['1', '', 'a']);
    });

    it('fails closed in response phases too: the response is discarded', async () => {
      const port = await http(({ phase }) => (phase === 'responseHeaders' ? 'rubbish' : { action: phase }));
      await processedBy(port, { mode: 'http' });
      const { status, body } = await bed.ask();
      expect([status, body]).to.deep.equal([500, '{"error":"ext_proc: the answer is no JSON object"}']);
    });

    it('an override replaces phases and allowOnError for its entry', async () => {
      await processedBy(
        await http(() => 'rubbish'),
        { mode: 'http' },
        {
          middlewareOverrides: { m0: { extProc: { phases: { requestHeaders: 'skip' }, allowOnError: true } } },
        },
      );
      expect((await bed.ask()).status).to.equal(200);
      expect(messages.map(({ phase }) => phase)).to.deep.equal(['responseHeaders']);
    });

    it('observe mode shows everything and changes nothing', async () => {
      const port = await http(() => ({ action: 'reject', rejectStatus: 499 }));
      await processedBy(port, { mode: 'http', phases: all, observeMode: { enabled: true } });
      const { status, body } = await bed.ask({ method: 'POST', body: 'in' });
      expect([status, body, bed.lastBody, bed.lastSent('content-length')]).to.deep.equal([200, 'upstream', 'in', '2']);
      await eventually(() => expect(messages).to.have.length(4));
      expect(messages.every(({ observeOnly }) => observeOnly === true)).to.equal(true);
    });
  });

  it('observes with one queue for all routes that use the middleware, also with different overrides', async () => {
    const answers: (() => void)[] = [];
    const port = await bed.bed.upstream((_, response) => {
      messages.push({});
      answers.push(() => response.end());
    });
    const observeMode = { enabled: true, workers: 1, queueSize: 1 };
    const extProc = { destinationId: 'proc', mode: 'http', phaseTimeout: '60s', observeMode } as const;
    const other = {
      id: 's',
      name: 's',
      match: { path: '/other' },
      directResponse: { status: 200 },
      middlewareIds: ['m0'],
      middlewareOverrides: { m0: { extProc: { phases: { responseHeaders: 'skip' } } } },
    } as const;
    await bed.serve([{ type: 'extProc', extProc: { ...extProc, phases: { responseHeaders: 'skip' } } }], {
      more: { destinations: [{ id: 'proc', name: 'proc', host: '127.0.0.1', port }], routes: [other] },
    });
    const answerAll = (): void => {
      for (const answer of answers.splice(0)) answer();
    };
    for (const path of ['/', '/other', '/', '/other']) expect((await bed.ask({ path })).status).to.equal(200);
    await eventually(() => expect(messages).to.have.length(1));
    answerAll();
    await eventually(() => expect(messages).to.have.length(2));
    answerAll();
    await bed.ask();
    await eventually(() => expect(messages).to.have.length(3));
    answerAll();
  });

  describe('over gRPC', () => {
    const grpc = async (process: Process): Promise<GrpcService> => {
      const note: Process = (message, stream, nth) => {
        messages.push(message);
        process(message, stream, nth);
      };
      const service = new GrpcService().stream('extproc.proto', 'extproc.v1.Processor', 'Process', note);
      bed.bed.atEnd(async () => service.stop());
      await service.start();
      return service;
    };
    const phaseOf = (message: Fields): string => Object.keys(message).find((key) => key !== 'observe_only') ?? '';
    const follow: Process = (message, stream) => stream.write({ [phaseOf(message)]: {} });

    it('has one stream per exchange and one answer per message', async () => {
      const service = await grpc((message, stream) => {
        const phase = phaseOf(message);
        const set_headers = [{ key: `x-${phase.replace('_', '-')}`, value: '1' }];
        stream.write({ [phase]: phase === 'response_body' ? { replace_body: Buffer.from('new') } : { set_headers } });
      });
      await processedBy(service.port, { phases: all });
      const { headers, body } = await bed.ask({ method: 'POST', body: 'in' });
      expect([bed.lastSent('x-request-headers'), bed.lastSent('x-request-body')]).to.deep.equal(['1', '1']);
      expect([headers['x-response-headers'], body, service.calls]).to.deep.equal(['1', 'new', 1]);
      expect(messages.map(phaseOf)).to.deep.equal([
        'request_headers',
        'request_body',
        'response_headers',
        'response_body',
      ]);
    });

    it('opens a new stream for the next phase when the service ends it after each answer', async () => {
      const service = await grpc((message, stream, nth) => {
        follow(message, stream, nth);
        stream.end();
      });
      await processedBy(service.port, { phases: all });
      expect((await bed.ask({ method: 'POST', body: 'in' })).body).to.equal('upstream');
      expect(service.calls).to.equal(4);
    });

    it('asks a later message again once when the stream ends without an answer, and takes a first one for a failure', async () => {
      let ended = 0;
      const service = await grpc((message, stream, nth) => {
        if (phaseOf(message) === 'response_headers' && ended++ === 0) stream.end();
        else follow(message, stream, nth);
      });
      await processedBy(service.port);
      expect((await bed.ask()).status).to.equal(200);
      expect(service.calls).to.equal(2);
      const mute = await grpc((_, stream) => stream.end());
      await processedBy(mute.port);
      expect((await bed.ask()).status).to.equal(500);
    });

    it('rejects, fails and times out as over HTTP', async () => {
      const ways: Readonly<Record<string, Process>> = {
        rejects: (_, stream) => stream.write({ reject: { status: 418, body: Buffer.from('tea') } }),
        fails: (_, stream) => stream.fail(),
        'says nothing': () => {},
      };
      const seen: Record<string, number> = {};
      for (const [way, process] of Object.entries(ways)) {
        const service = await grpc(process);
        await processedBy(service.port, way === 'says nothing' ? { phaseTimeout: '50ms' } : {});
        seen[way] = (await bed.ask()).status;
      }
      expect(seen).to.deep.equal({ rejects: 418, fails: 500, 'says nothing': 500 });
      expect(bed.reached).to.have.length(0);
    });

    it('lets no rejection begin a field of its own by a line break', async () => {
      const headers = [
        { key: 'x-split', value: 'a\r\nx-begun: b' },
        { key: 'x-why', value: 'w' },
      ];
      const service = await grpc((_, stream) => stream.write({ reject: { headers } }));
      await processedBy(service.port);
      const answer = await bed.ask();
      expect([answer.status, answer.headers['x-why']]).to.deep.equal([403, 'w']);
      expect(answer.headers).to.not.have.any.keys('x-split', 'x-begun');
    });

    it('observes without waiting for services that say nothing', async () => {
      const service = await grpc(() => {});
      const observeMode = { enabled: true, workers: 1 };
      await processedBy(service.port, { phases: all, observeMode });
      for (let i = 0; i < 3; i++) await bed.ask({ method: 'POST', body: 'in' });
      await eventually(() => expect(messages).to.have.length(12));
    });

    it('refuses when no server listens or the destination is missing', async () => {
      await processedBy(await freePort());
      expect((await bed.ask()).status).to.equal(500);
      await processedBy(1, { destinationId: 'nobody' });
      expect((await bed.ask()).body).to.equal('{"error":"ext_proc: destination missing"}');
      expect(bed.reached).to.have.length(0);
    });
  });

  describe('as Envoy asks', () => {
    const envoy = async (process: Process): Promise<GrpcService> => {
      const note: Process = (message, stream, nth) => {
        messages.push(message);
        process(message, stream, nth);
      };
      const name = 'envoy.service.ext_proc.v3.ExternalProcessor';
      const service = new GrpcService().stream('envoy-processing.proto', name, 'Process', note);
      bed.bed.atEnd(async () => service.stop());
      await service.start();
      return service;
    };
    const phaseOf = (message: Fields): string => Object.keys(message).find((key) => key !== 'observability_mode') ?? '';
    const config = { protocol: 'envoy' } as const;

    it('changes headers with raw values and bodies, and answers at once with immediate_response', async () => {
      const service = await envoy((message, stream) => {
        const phase = phaseOf(message);
        const set_headers = [{ header: { key: 'x-a', raw_value: Buffer.from('raw') } }];
        const body_mutation = phase.endsWith('body') ? { body: Buffer.from('B') } : undefined;
        stream.write({ [phase]: { response: { header_mutation: { set_headers }, body_mutation } } });
      });
      await processedBy(service.port, { ...config, phases: all });
      const { headers, body } = await bed.ask({ method: 'POST', body: 'in' });
      expect([bed.lastSent('x-a'), bed.lastBody, headers['x-a'], body]).to.deep.equal(['raw', 'B', 'raw', 'B']);
      const refusing = await envoy((_, stream) =>
        stream.write({ immediate_response: { status: { code: 401 }, body: Buffer.from('who') } }),
      );
      await processedBy(refusing.port, config);
      const refused = await bed.ask();
      expect([refused.status, refused.body]).to.deep.equal([401, 'who']);
    });

    it('goes on without the processor when the stream ends in good order', async () => {
      const service = await envoy((_, stream) => stream.end());
      await processedBy(service.port, { ...config, phases: all });
      expect((await bed.ask({ method: 'POST', body: 'in' })).body).to.equal('upstream');
      expect(messages).to.have.length(1);
    });

    it('applies the answers of a streamed body to their chunks', async () => {
      const service = await envoy((message, stream) => {
        const phase = phaseOf(message);
        const { body } = (message[phase] ?? {}) as { body?: Buffer };
        const shout = Buffer.from(String(body ?? '').toUpperCase());
        stream.write({ [phase]: { response: { body_mutation: { body: shout } } } });
      });
      const phases = {
        requestHeaders: 'skip',
        responseHeaders: 'skip',
        requestBody: 'streamed',
        responseBody: 'streamed',
      } as const;
      await processedBy(service.port, { ...config, phases });
      const { body, headers } = await bed.ask({ method: 'POST', body: 'abc' });
      expect([bed.lastBody, body, headers['transfer-encoding']]).to.deep.equal(['ABC', 'UPSTREAM', 'chunked']);
    });

    it('shows a streamed body in pieces of 32 KiB at most', async () => {
      const service = await envoy((message, stream) => stream.write({ [phaseOf(message)]: {} }));
      const phases = { requestHeaders: 'skip', responseHeaders: 'skip', requestBody: 'streamed' } as const;
      await processedBy(service.port, { ...config, phases });
      const body = 'abcdefg'.repeat(100_000);
      await bed.ask({ method: 'POST', body });
      expect(bed.lastBody === body).to.equal(true);
      const shown = messages.map((message) => message.request_body as { body?: Buffer; end_of_stream?: boolean });
      expect(Math.max(...shown.map((each) => each.body?.length ?? 0))).to.be.at.most(32 * 1024);
      expect(shown.filter(({ end_of_stream }) => end_of_stream)).to.deep.equal([shown.at(-1)]);
    });

    it('follows mode_override and override_message_timeout only where they are allowed', async () => {
      const service = await envoy((message, stream) => {
        const mode_override =
          phaseOf(message) === 'request_headers' ? { request_body_mode: 2, response_header_mode: 2 } : undefined;
        stream.write({ [phaseOf(message)]: {}, mode_override });
      });
      await processedBy(service.port, config);
      await bed.ask({ method: 'POST', body: 'in' });
      expect(messages.map(phaseOf)).to.deep.equal(['request_headers', 'response_headers']);
      messages.length = 0;
      await processedBy(service.port, { ...config, allowModeOverride: true });
      await bed.ask({ method: 'POST', body: 'in' });
      expect(messages.map(phaseOf)).to.deep.equal(['request_headers', 'request_body']);
    });

    it('is told once of what is ignored: metadata, the cache of routes, trailers', async () => {
      const { logger, lines } = logCapture();
      await bed.end();
      bed = new MiddlewareBed({ logger });
      const service = await envoy((message, stream) => {
        const phase = phaseOf(message);
        const trailers = { headers: [{ key: 'x-t', value: 't' }] };
        const response = { clear_route_cache: true, trailers, header_mutation: { remove_headers: ['x-a'] } };
        const answer = phase === 'request_headers' ? { request_headers: { response } } : { response_trailers: {} };
        stream.write({ ...answer, dynamic_metadata: { fields: { a: 'b' } } });
      });
      await processedBy(service.port, config);
      for (let i = 0; i < 3; i++) expect((await bed.ask({ headers: { 'x-a': '1' } })).status).to.equal(200);
      expect(bed.lastSent('x-a')).to.equal(undefined);
      await bed.bed.proxy.close({ withinMs: 0 });
      const told = lines.map((line) => JSON.parse(line)).filter(({ field }) => field !== undefined);
      expect(told.map(({ destination, field }) => `${destination} ${field}`)).to.deep.equal(
        ['dynamic_metadata', 'clear_route_cache', 'trailers', 'response_trailers'].map((field) => `proc ${field}`),
      );
    });

    it('refuses a body that is to be replaced as in the full-duplex modes', async () => {
      const service = await envoy((message, stream) => {
        const body_mutation = { streamed_response: { body: Buffer.from('clean'), end_of_stream: true } };
        stream.write({ [phaseOf(message)]: { response: { body_mutation } } });
      });
      const phases = { requestHeaders: 'skip', responseHeaders: 'skip', requestBody: 'buffered' } as const;
      await processedBy(service.port, { ...config, phases });
      expect((await bed.ask({ method: 'POST', body: 'secret' })).status).to.equal(500);
      expect(bed.reached).to.have.length(0);
    });

    it('refuses when the processor breaks in the middle of a streamed request', async () => {
      const service = await envoy((_, stream) => stream.fail());
      await processedBy(service.port, { ...config, phases: { requestHeaders: 'skip', requestBody: 'streamed' } });
      const { status } = await bed.ask({ method: 'POST', body: 'abc' });
      expect(status).to.equal(500);
    });
  });
});
