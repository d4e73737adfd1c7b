// Services written for Envoy, on its own descriptions and gRPC's implementation in C: what the pages of extAuthz and
// extProc say of them, and what becomes of requests whose service is killed, slow or lying.
import { expect } from 'chai';
import type { ExtAuthzConfig } from '../../src/model/middleware/ext-authz-options.ts';
import type { ExtProcConfig } from '../../src/model/middleware/ext-proc-options.ts';
import { eventually } from '../support/eventually.ts';
import { python } from '../support/foreign-program.ts';
import { asking, besides, byPatience, ForeignService, impatient, patient } from '../support/foreign-services.ts';
import { MiddlewareBed } from '../support/middleware-bed.ts';
import { needs } from '../support/needs.ts';

describe('services written for Envoy', () => {
  let bed: MiddlewareBed;
  const service = new ForeignService('envoy_services.py');
  let port: number;

  const start = async (...args: string[]): Promise<void> => {
    [port = 0] = await service.start(...args);
  };
  before(async function () {
    needs(this, python);
    await start();
  });
  beforeEach(() => {
    bed = new MiddlewareBed();
  });
  afterEach(() => bed.end());
  after(() => service.stop());

  const more = () => ({ more: { destinations: [{ id: 's', name: 's', host: '127.0.0.1', port }] } });
  const ask = asking(() => bed);
  const sent = (...names: string[]) => names.map((name) => bed.lastSent(name));

  describe('Authorization/Check', () => {
    const guard = (config: Partial<ExtAuthzConfig>) =>
      ({
        type: 'extAuthz',
        extAuthz: { destinationId: 's', mode: 'grpc', protocol: 'envoy', decisionTimeout: patient, ...config },
      }) as const;
    const guarded = (config: Partial<ExtAuthzConfig> = {}) =>
      bed.serve([guard({ ...config, decisionTimeout: impatient }), guard(config)], {
        ...more(),
        route: byPatience,
      });

    it('sees attributes; headers, removals, client headers and query edits of ok_response are followed', async () => {
      await guarded({ includeBody: true });
      const { status, headers } = await ask('', {
        method: 'POST',
        path: '/a?token=t&b=1',
        headers: { host: 'shop.test', 'x-secret': 's', 'x-list': 'a', 'x-set': 'a', 'x-kept': 'a', 'x-user': 'eve' },
        body: 'in',
      });
      expect([status, headers['x-checked']]).to.deep.equal([200, 'yes']);
      expect(sent('x-user', 'x-seen')).to.deep.equal(['ada', 'POST /a?token=t&b=1 shop.test http HTTP/1.1 2 in']);
      expect(sent('x-secret', 'x-absent', 'x-kept', 'x-set', 'x-source')).to.deep.equal([
        ...[undefined, undefined, 'a', 'b', '127.0.0.1'],
      ]);
      expect(sent('x-list').flat()).to.deep.equal(['a', 'b']);
      expect(bed.reached.at(-1)?.url).to.equal('/a?b=1&by=authz');
    });

    it('denied_response reaches the client, 403 where there is none', async () => {
      await guarded();
      const { status, headers, body } = await ask('deny');
      expect([status, headers['x-reason'], headers.location, body]).to.deep.equal([
        ...[401, 'no badge', '/login', 'who are you?'],
      ]);
      expect((await ask('bare')).status).to.equal(403);
      expect(bed.reached).to.have.length(0);
    });

    for (const [want, reason] of [
      ['error', ''],
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
        expect(bed.reached.every(({ headers }) => headers['x-want'] === '')).to.equal(true);
        await guarded({ failureModeAllow: true });
        expect((await ask(want)).status).to.equal(200);
      });
  });

  describe('ExternalProcessor/Process', () => {
    const processor = (config: Partial<ExtProcConfig>) =>
      ({
        type: 'extProc',
        extProc: { destinationId: 's', protocol: 'envoy', phaseTimeout: patient, ...config },
      }) as const;
    const processed = (config: Partial<ExtProcConfig> = {}) =>
      bed.serve([processor({ ...config, phaseTimeout: impatient }), processor(config)], {
        ...more(),
        route: byPatience,
      });
    const bodies = { requestBody: 'buffered', responseBody: 'buffered' } as const;

    it('changes headers and bodies of both directions', async () => {
      await processed({ phases: bodies });
      bed.answer = { status: 200, headers: { 'x-inner': 'i' }, body: 'upstream' };
      const { status, headers, body } = await ask('', { method: 'POST', headers: { 'x-secret': 's' }, body: 'in' });
      expect([status, body, bed.lastBody]).to.deep.equal([200, 'UPSTREAM', 'IN']);
      expect(headers).to.include({ 'x-answered': 'yes', 'content-length': '8' }).and.not.have.property('x-inner');
      expect(sent('x-processed', 'x-plain', 'x-secret')).to.deep.equal(['yes', 'p', undefined]);
    });

    it('shows streamed bodies piece by piece', async () => {
      await processed({ phases: { requestBody: 'streamed', responseBody: 'streamed' } });
      const large = 'abc'.repeat(100_000);
      bed.answer = { ...bed.answer, body: large };
      const { status, body } = await ask('', { method: 'POST', body: large });
      expect([status, body === large.toUpperCase(), bed.lastBody === large.toUpperCase()]).to.deep.equal([
        ...[200, true, true],
      ]);
    });

    it('rejects with immediate_response, and replaces a body with CONTINUE_AND_REPLACE', async () => {
      await processed();
      const { status, headers, body } = await ask('reject');
      expect([status, headers['x-wait'], body]).to.deep.equal([429, '9', 'slow down']);
      expect((await ask('replace', { method: 'POST', body: 'in' })).status).to.equal(200);
      expect(bed.lastBody).to.equal('in place');
    });

    it('has its mode_override followed where the middleware allows that alone', async () => {
      await processed();
      expect((await ask('body', { method: 'POST', body: 'in' })).body).to.equal('upstream');
      await processed({ allowModeOverride: true });
      expect((await ask('body', { method: 'POST', body: 'in' })).body).to.equal('UPSTREAM');
      expect(bed.lastBody).to.equal('IN');
    });

    it('that ends its stream in good order is gone on without', async () => {
      await processed();
      expect((await ask('end')).status).to.equal(200);
      expect(sent('x-processed')).to.deep.equal([undefined]);
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
      expect([status, headers['x-lie'], ...sent('x-lie')]).to.deep.equal([200, undefined, undefined]);
    });
  });

  it('that dies refuses what it was asked, and is asked again when it is back', async () => {
    await bed.serve(
      [
        {
          type: 'extAuthz',
          extAuthz: { destinationId: 's', mode: 'grpc', protocol: 'envoy', decisionTimeout: patient },
        },
        { type: 'extProc', extProc: { destinationId: 's', protocol: 'envoy', phaseTimeout: patient } },
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
