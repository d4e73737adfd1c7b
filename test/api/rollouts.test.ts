import { expect } from 'chai';
import { noShadow, noShadowExamples } from '../../src/model/shadow.ts';
import { ApiServer, type ServerSetup } from '../support/api-server.ts';
import type { Answer, CallOptions } from '../support/http-call.ts';

interface Rollout {
  readonly id: string;
  readonly snapshotId: string;
  readonly state: string;
  readonly step: number;
  readonly share: number;
  readonly steps: readonly object[];
  readonly guards: readonly string[];
  readonly events: readonly { readonly kind: string; readonly by: string | null }[];
}

const usualGuard = 'candidate.requests < 20.0 || candidate.errorRate <= stable.errorRate + 0.01';
const shadowGuard = 'shadow.lost == 0.0 && shadow.rejectedLess == 0.0';

// fleet.md §7, at the REST surface; the controller's test covers rollouts over time.
describe('rollouts', () => {
  let api: ApiServer;
  let a: string;
  let b: string;

  const begin = async (setup: ServerSetup = {}): Promise<void> => {
    api = await ApiServer.start(setup);
    const key = setup.options?.apiKeys?.[0]?.key;
    const options = key === undefined ? {} : { key };
    const capture = async (name: string): Promise<string> =>
      ((await api.call('POST', '/snapshots', { ...options, body: { name } })).json as { id: string }).id;
    [a, b] = [await capture('a'), await capture('b')];
    await api.call('POST', `/snapshots/${a}/activate`, options);
  };
  const start = (id: string, body: unknown = undefined, options: CallOptions = {}): Promise<Answer> =>
    api.call('POST', `/snapshots/${id}/rollout`, { ...options, body });
  const started = async (...parameters: Parameters<typeof start>): Promise<Rollout> => {
    const answer = await start(...parameters);
    expect(answer.status, answer.text).to.equal(202);
    return answer.json as Rollout;
  };
  const act = (id: string, action: string, body?: unknown): Promise<Answer> =>
    api.call('POST', `/rollouts/${id}/${action}`, { body });
  const get = async (id: string): Promise<Rollout> => (await api.call('GET', `/rollouts/${id}`)).json as Rollout;
  const active = async (): Promise<string | undefined> =>
    ((await api.call('GET', '/snapshots')).json as { id: string; active: boolean }[]).find((one) => one.active)?.id;

  afterEach(() => api.stop());

  it('begin with the plan that an empty body stands for', async () => {
    await begin({ options: { apiKeys: [{ name: 'ops', key: 'k', role: 'editor' }] } });
    const answer = await start(b, undefined, { key: 'k' });
    expect(answer.status, answer.text).to.equal(202);
    const rollout = answer.json as Rollout;
    expect(answer.headers.location).to.equal(`/api/v1/rollouts/${rollout.id}`);
    expect(rollout).to.deep.include({
      snapshotId: b,
      state: 'running',
      step: 0,
      share: 1,
      steps: [
        { share: 1, hold: '30s' },
        { share: 10, hold: '60s' },
        { share: 50, hold: '60s' },
        { share: 100, hold: '0s' },
      ],
      by: 'client',
      key: { clientIp: true },
      guards: ['candidate.requests < 20.0 || candidate.errorRate <= stable.errorRate + 0.01'],
      minRequests: 20,
      checkInterval: '1s',
      failures: 2,
      onFail: 'rollback',
      deadman: '60s',
      maxStep: '3600s',
      comment: null,
    });
    expect(rollout.events.map(({ kind, by }) => [kind, by])).to.deep.equal([['started', 'ops']]);
  });

  it('are what their body says', async () => {
    await begin();
    const body = {
      steps: [{ labels: { zone: 'a' } }, { share: 0.01, hold: '5s' }, { share: 100, hold: '1m30s' }],
      by: 'proxy',
      key: { cookie: 'session' },
      guards: ['candidate.p99Ms < 200.0 && proxies.refused == 0.0 && step + share + elapsed >= 0.0'],
      onFail: 'pause',
      comment: 'carefully',
    };
    const rollout = await started(b, body);
    expect(rollout).to.deep.include({
      ...body,
      share: 0,
      steps: [
        { labels: { zone: 'a' }, hold: '30s' },
        { share: 0.01, hold: '5s' },
        { share: 100, hold: '90s' },
      ],
    });
  });

  it('may begin with shadow steps, which share nothing and have figures in the place of their flag', async () => {
    await begin();
    const steps = [{ shadow: true, hold: '5m' }, { shadow: true }, { share: 10 }];
    const rollout = await started(b, { steps, shadowSample: 10 });
    const none = { ...noShadow };
    expect(rollout).to.deep.include({
      share: 0,
      activated: false,
      shadowSample: 10,
      shadow: none,
      steps: [
        { shadow: none, hold: '300s' },
        { shadow: none, hold: '30s' },
        { share: 10, hold: '30s' },
        { share: 100, hold: '0s' },
      ],
      guards: [usualGuard, shadowGuard],
    });
    expect(api.feed.candidate.candidate).to.include({ share: 0, shadowSample: 10 });
    const read = await get(rollout.id);
    expect(read).to.have.nested.property('shadow.examples').that.deep.equals(noShadowExamples);
    const [listed] = (await api.call('GET', '/rollouts')).json as object[];
    expect(listed).to.deep.include({ shadow: none });
    expect((await act(rollout.id, 'promote')).json).to.include({ step: 1, share: 0 });
    expect((await act(rollout.id, 'promote')).json).to.include({ step: 2, share: 10 });
    expect(api.feed.candidate.candidate).to.not.have.property('shadowSample');
    expect((await act(rollout.id, 'promote', { share: 100 })).json).to.include({ state: 'completed', activated: true });
  });

  it('end without an activation when they have shadow steps alone', async () => {
    await begin();
    const { id, steps, guards } = await started(b, { steps: [{ shadow: true, hold: '1s' }] });
    expect(steps).to.deep.equal([{ shadow: noShadow, hold: '1s' }]);
    expect(guards).to.deep.equal([shadowGuard]);
    const over = { state: 'completed', activated: false, share: 0 };
    expect((await act(id, 'promote')).json).to.include(over);
    expect(await active()).to.equal(a);
    const again = await started(b, { steps: [{ shadow: true }] });
    expect((await act(again.id, 'promote', { share: 100 })).json).to.include(over);
    expect(await active()).to.equal(a);
  });

  it('keep the guard of shadow steps beside guards that say nothing of them', async () => {
    await begin();
    const shadow = [{ shadow: true }];
    const guardsOf = async (body: object): Promise<readonly string[]> => {
      const { id, guards } = await started(b, body);
      await act(id, 'abort');
      return guards;
    };
    const own = 'candidate.p99Ms < 200.0';
    const moved = 'shadow.moved + shadow.undecided < 9.0';
    expect(await guardsOf({ steps: shadow, guards: [own] })).to.deep.equal([own, shadowGuard]);
    expect(await guardsOf({ steps: shadow, guards: [moved] })).to.deep.equal([moved]);
    expect(await guardsOf({ steps: shadow, guards: [] })).to.deep.equal([]);
    expect(await guardsOf({ guards: [own] })).to.deep.equal([own]);
    expect(await guardsOf({})).to.deep.equal([usualGuard]);
  });

  it('are refused with every fault of their body', async () => {
    await begin();
    const faults: [body: object, text: string][] = [
      [{ steps: [] }, '/steps'],
      [{ steps: [{ share: 0 }] }, '/steps/0/share'],
      [{ steps: [{ share: 101 }] }, '/steps/0/share'],
      [{ steps: [{ hold: '5s' }] }, '/steps/0'],
      [{ steps: [{ share: 5, labels: { a: 'b' } }] }, '/steps/0'],
      [{ steps: [{ share: 10 }, { share: 10 }] }, '/steps'],
      [{ steps: [{ share: 100 }, { labels: { a: 'b' } }] }, '/steps'],
      [{ steps: [{ shadow: true, share: 5 }] }, '/steps/0'],
      [{ steps: [{ shadow: false }] }, '/steps/0'],
      [{ steps: [{ shadow: 'yes' }] }, '/steps/0/shadow'],
      [{ steps: [{ share: 5 }, { shadow: true }] }, '/steps/1/shadow'],
      [{ steps: [{ shadow: true }, { labels: { a: 'b' } }, { shadow: true }] }, '/steps/2/shadow'],
      [{ shadowSample: 0 }, '/shadowSample'],
      [{ guards: ['shadow.lost == "0"'] }, '/guards/0'],
      [{ guards: ['shadow.loss == 0.0'] }, '/guards/0'],
      [{ by: 'node' }, '/by'],
      [{ key: { header: 'a', cookie: 'b' } }, '/key'],
      [{ guards: ['candidate.requests'] }, '/guards/0'],
      [{ guards: ['request.path == "/"'] }, '/guards/0'],
      [{ failures: 0 }, '/failures'],
      [{ deadman: '4s' }, '/deadman'],
      [{ checkInterval: '1ms' }, '/checkInterval'],
      [{ comment: 'x'.repeat(501) }, '/comment'],
    ];
    for (const [body, text] of faults) {
      const answer = await start(b, body);
      expect(answer.status, JSON.stringify(body)).to.equal(400);
      expect(answer.text, JSON.stringify(body)).to.contain(text);
    }
    expect(await start('none')).to.include({ status: 404 });
    expect((await api.call('GET', '/rollouts')).text).to.equal('[]');
  });

  it('pause, resume and go to the next step and to the end when they are told to', async () => {
    await begin();
    const { id } = await started(b, { steps: [{ share: 5 }, { share: 20 }] });
    expect((await act(id, 'pause')).json).to.include({ state: 'paused', share: 5 });
    expect(await act(id, 'pause')).to.include({ status: 409 });
    expect((await act(id, 'resume')).json).to.include({ state: 'running', share: 5 });
    expect(await act(id, 'resume')).to.include({ status: 409 });
    expect((await act(id, 'promote')).json).to.include({ state: 'running', share: 20, step: 1 });
    expect(await act(id, 'promote', { share: 50 })).to.include({ status: 400 });
    expect(await active()).to.equal(a);
    const done = await act(id, 'promote', { share: 100 });
    expect(done.json).to.include({ state: 'completed', share: 100 });
    expect(await active()).to.equal(b);
    const [last] = (await api.call('GET', '/activations')).json as object[];
    expect(last).to.include({ snapshotId: b, reason: 'rollout', rollout: id });
    expect(api.feed.current).to.include({ name: 'b', index: Number(done.headers['x-sluice-revision']) });
    for (const action of ['pause', 'resume', 'abort', 'promote']) {
      expect(await act(id, action), action).to.include({ status: 409 });
      expect(await act('none', action), action).to.include({ status: 404 });
    }
    expect((await get(id)).events.map(({ kind }) => kind)).to.deep.equal([
      'started',
      'paused',
      'resumed',
      'promoted',
      'step',
      'promoted',
      'completed',
    ]);
  });

  it('keep everything else from becoming active', async () => {
    await begin();
    const { id } = await started(b);
    const more = (await api.call('POST', '/snapshots', { body: { name: 'c' } })).json as { id: string };
    expect(await start(more.id)).to.include({ status: 409 });
    expect(await api.call('POST', `/snapshots/${more.id}/activate`)).to.include({ status: 409 });
    expect(await api.call('POST', '/rollback')).to.include({ status: 409 });
    const snapshot = { name: 'd', activate: true };
    expect(await api.call('POST', '/batch', { body: { operations: [], snapshot } })).to.include({ status: 409 });
    expect(await api.call('DELETE', `/snapshots/${b}`)).to.include({ status: 409 });
    const forced = await api.call('POST', `/snapshots/${more.id}/activate?force=true`);
    expect(forced).to.include({ status: 200 });
    expect(await get(id)).to.include({ state: 'aborted', share: 0 });
    expect(await api.call('DELETE', `/snapshots/${b}`)).to.include({ status: 204 });
  });

  it('do not begin without something stable, with what is active, or while a confirmation is waited for', async () => {
    await begin();
    expect(await start(a)).to.include({ status: 409 });
    await api.call('POST', `/snapshots/${b}/activate?confirmWithin=1h`);
    expect(await start(a)).to.include({ status: 409 });
    await api.call('POST', `/snapshots/${b}/confirm`);
    const { id } = await started(a);
    expect((await act(id, 'abort')).json).to.include({ state: 'aborted' });
    const list = (await api.call('GET', '/rollouts')).json as Rollout[];
    expect(list.map(({ state }) => state)).to.deep.equal(['aborted']);
  });

  it('refuse the rehearsal of a batch that would activate, as they refuse the batch', async () => {
    await begin();
    const { id } = await started(b);
    const wanted = { operations: [], snapshot: { name: 'v', activate: true } };
    for (const path of ['/batch?dryRun=true', '/batch']) {
      const answer = await api.call('POST', path, { body: wanted });
      const error = `/snapshot/activate: rollout "${id}" is under way`;
      expect([answer.status, answer.json], path).to.deep.equal([409, { error }]);
    }
  });

  it('are started once under one key', async () => {
    await begin();
    const options = { headers: { 'idempotency-key': 'k' } };
    const first = await started(b, {}, options);
    expect((await started(b, {}, options)).id).to.equal(first.id);
  });
});
