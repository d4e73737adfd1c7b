// Services in Python for our own protocols of extAuthz and extProc, on gRPC's implementation in C and stubs made of the
// descriptions: what the pages of both say of them, and what becomes of requests whose service is killed, slow or lying.
import { join } from 'node:path';
import { expect } from 'chai';
import type { ExtAuthzConfig } from '../../src/model/middleware/ext-authz-options.ts';
import type { ExtProcConfig } from '../../src/model/middleware/ext-proc-options.ts';
import { eventually } from '../support/eventually.ts';
import { python, pythonCompiler } from '../support/foreign-program.ts';
import { asking, besides, byPatience, ForeignService, impatient, patient } from '../support/foreign-services.ts';
import { MiddlewareBed } from '../support/middleware-bed.ts';
import { needs } from '../support/needs.ts';

const descriptions = join(import.meta.dirname, '../support/services');

describe('services in another language', () => {
  let bed: MiddlewareBed;
  const service = new ForeignService('sluice_services.py');
  let port: number;
  /** Port of the service that ends its stream after each answer. */
  let once: number;

  const start = async (...args: string[]): Promise<void> => {
    [port = 0, once = 0] = await service.start(descriptions, ...args);
  };
  before(async function () {
    needs(this, python, pythonCompiler);
    await start();
  });
  beforeEach(() => {
    bed = new MiddlewareBed();
  });
  afterEach(() => bed.end());
  after(() => service.stop());

  const more = () => ({
    more: {
      destinations: [
        { id: 's', name: 's', host: '127.0.0.1', port },
        { id: 'once', name: 'once', host: '127.0.0.1', port: once },
      ],
    },
  });
  const ask = asking(() => bed);
  describe('extauthz.v1.Authorizer', () => {
    const guard = (config: Partial<ExtAuthzConfig>) =>
      ({
        type: 'extAuthz',
        extAuthz: {
          destinationId: 's',
          mode: 'grpc',
          decisionTimeout: patient,
          onCheck: { forwardHeaders: ['x-want'] },
          ...config,
        },
      }) as const;
    const guarded = (config: Partial<ExtAuthzConfig> = {}) =>
      bed.serve([guard({ ...config, decisionTimeout: impatient }), guard(config)], { ...more(), route: byPatience });

    it('sees the request; headers of an allowed answer replace those of the request', async () => {
      await guarded({ includeBody: true });
      const asked = { method: 'POST', path: '/a?b=1', headers: { 'x-user': 'eve' }, body: 'in' };
      expect((await ask('', asked)).status).to.equal(200);
      expect([bed.lastSent('x-user'), bed.lastSent('x-seen')]).to.deep.equal(['ada', 'POST /a?b=1 in']);
    });

    it('a denial reaches the client, with 403 where it has no status', async () => {
      await guarded({ onDeny: { copyToClient: ['x-reason'] } });
      const { status, headers, body } = await ask('deny');
      expect([status, headers['x-reason'], body]).to.deep.equal([401, 'no badge', 'who are you?']);
      expect((await ask('bare')).status).to.equal(403);
      expect(bed.reached).to.have.length(0);
    });

    for (const [want, reason] of [
      ['fail', 'status 13: broken'],
      ['hang', 'timeout'],
      ['huge', ''],
    ] as const)
      it(`a service that answers ${want} refuses its request, and harms no other`, async () => {
        await guarded();
        const { status, body } = await besides(ask, () => ask(want));
        expect(status).to.equal(403);
        expect(JSON.parse(body).error)
          .to.match(/^ext_authz: /)
          .and.contain(reason);
        await guarded({ failureModeAllow: true });
        expect((await ask(want)).status).to.equal(200);
      });
  });

  describe('extproc.v1.Processor', () => {
    const processor = (config: Partial<ExtProcConfig>) =>
      ({ type: 'extProc', extProc: { destinationId: 's', phaseTimeout: patient, ...config } }) as const;
    const processed = (config: Partial<ExtProcConfig> = {}) =>
      bed.serve([processor({ ...config, phaseTimeout: impatient }), processor(config)], {
        ...more(),
        route: byPatience,
      });

    for (const [style, destinationId] of [
      ['keeps its stream', 's'],
      ['ends its stream after each answer', 'once'],
    ] as const) {
      it(`changes headers and bodies of both directions where it ${style}`, async () => {
        await processed({ destinationId, phases: { requestBody: 'buffered', responseBody: 'buffered' } });
        bed.answer = { status: 200, headers: { 'x-inner': 'i' }, body: 'upstream' };
        const { status, headers, body } = await ask('', { method: 'POST', headers: { 'x-secret': 's' }, body: 'in' });
        expect([status, body, bed.lastBody]).to.deep.equal([200, 'UPSTREAM', 'IN']);
        expect(headers).to.include({ 'x-answered': 'yes', 'content-length': '8' }).and.not.have.property('x-inner');
        expect([bed.lastSent('x-processed'), bed.lastSent('x-secret')]).to.deep.equal(['yes', undefined]);
      });

      it(`rejects where it ${style}`, async () => {
        await processed({ destinationId });
        const { status, headers, body } = await ask('reject');
        expect([status, headers['x-wait'], body]).to.deep.equal([429, '9', 'slow down']);
        expect(bed.reached).to.have.length(0);
      });
    }

    it('sees streamed bodies piece by piece, and answers for the whole with the last', async () => {
      await processed({ phases: { requestBody: 'streamed', responseBody: 'streamed' } });
      const large = 'abc'.repeat(100_000);
      bed.answer = { ...bed.answer, body: large };
      const { status, body } = await ask('', { method: 'POST', body: large });
      expect([status, body === large.toUpperCase(), bed.lastBody === large.toUpperCase()]).to.deep.equal([
        ...[200, true, true],
      ]);
    });

    it('replaces a body with CONTINUE_AND_REPLACE', async () => {
      await processed();
      expect((await ask('replace', { method: 'POST', body: 'in' })).status).to.equal(200);
      expect(bed.lastBody).to.equal('in place');
    });

    for (const want of ['fail', 'hang', 'empty', 'huge', 'fail-at-response', 'hang-at-response'])
      it(`that does ${want} fails its exchange, and harms no other`, async () => {
        await processed();
        const { status, body } = await besides(ask, () => ask(want));
        expect(status).to.equal(500);
        expect(JSON.parse(body).error).to.match(/^ext_proc: /);
        await processed({ allowOnError: true });
        expect((await ask(want)).status).to.equal(200);
      });

    it('that answers to another phase changes nothing', async () => {
      await processed();
      const { status, headers } = await besides(ask, () => ask('lie'));
      expect([status, headers['x-lie'], bed.lastSent('x-lie')]).to.deep.equal([200, undefined, undefined]);
    });
  });

  it('that dies refuses what it was asked, and is asked again when it is back', async () => {
    await bed.serve(
      [
        {
          type: 'extAuthz',
          extAuthz: {
            destinationId: 's',
            mode: 'grpc',
            decisionTimeout: patient,
            onCheck: { forwardHeaders: ['x-want'] },
          },
        },
        { type: 'extProc', extProc: { destinationId: 's', phaseTimeout: patient } },
      ],
      more(),
    );
    expect((await ask('')).status).to.equal(200);
    const reached = bed.reached.length;
    expect((await ask('die')).status).to.equal(403);
    expect((await ask('')).status).to.equal(403);
    expect(bed.reached).to.have.length(reached);
    await service.stop();
    await start(String(port));
    await eventually(async () => expect((await ask('')).status).to.equal(200));
  });
});
