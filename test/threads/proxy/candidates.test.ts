// Candidate beside the stable configuration (fleet.md §7): on real sockets, in one worker within the thread and in two threads.

import { expect } from 'chai';
import { request as send } from 'undici';
import type { Candidate } from '../../../src/model/proxy-config.ts';
import { bucketOf } from '../../../src/model/rollout-bucket.ts';
import type { Proxy as DataPlane } from '../../../src/proxy/proxy.ts';
import { CandidateBed } from '../../support/candidate-bed.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { forwarding, type HandSource, type ProxyBed } from '../../support/proxy-bed.ts';

const byUser = { key: { header: 'x-user' } } as const;

for (const workers of [1, 2]) {
  describe(`a candidate, ${workers === 1 ? 'in a worker within the thread' : `in ${workers} workers`}`, () => {
    let bed: ProxyBed;
    let candidates: CandidateBed;
    let source: HandSource;
    let proxy: DataPlane;
    let port: number;
    beforeEach(async () => {
      candidates = await CandidateBed.open(workers);
      ({ bed, source, proxy, port } = candidates);
    });
    afterEach(() => candidates.end());

    const answering = (body: string, more: object = {}) => ({
      listeners: [{ id: 'l', name: 'l', port }],
      routes: [{ id: 'r', name: 'r', directResponse: { status: 200, body } }],
      ...more,
    });
    const ask = async (user: string, at = port) =>
      (await candidates.ask('/', { headers: { 'x-user': user } }, at)).text;
    const users = Array.from({ length: 60 }, (_, n) => `user-${n}`);
    /** Returns the role that each user must get. */
    const expected = ({ rollout, share }: Candidate) =>
      users.map((user) => (bucketOf(rollout, user) < share / 100 ? 'candidate' : 'stable'));
    const settled = (count: number) => candidates.settled(count);
    const answers = () => Promise.all(users.map((user) => ask(user)));
    const started = async (stable: object) => {
      source.publish(1, stable);
      await proxy.start();
    };

    it('serves exactly the clients of its share, at once when the share changes, and none once it is withdrawn', async () => {
      await started(answering('stable'));
      let candidate = source.offer(2, answering('candidate'), byUser);
      await settled(1);
      expect(candidates.outcomes[0]?.refusal).to.equal(undefined);
      for (const share of [10, 30, 60, 30]) {
        source.share(share);
        candidate = { ...candidate, share };
        expect(await answers()).to.deep.equal(expected(candidate));
      }
      expect(proxy.figures('candidate').requests + proxy.figures('stable').requests).to.equal(240);
      expect(proxy.figures('candidate').requests).to.be.within(1, 239);
      source.withdraw();
      expect(new Set(await answers())).to.deep.equal(new Set(['stable']));
    });

    it('serves all clients once it is complete, without a client that goes back or a table that is compiled again', async () => {
      await started(answering('stable'));
      source.offer(2, answering('candidate'), { ...byUser, share: 100 });
      await settled(1);
      expect(new Set(await answers())).to.deep.equal(new Set(['candidate']));
      let active = true;
      const asking = (async () => {
        const seen = new Set<string>();
        while (active) seen.add(await ask('somebody'));
        return seen;
      })();
      source.complete(3);
      await proxy.installed(3, 5_000);
      expect(new Set(await answers())).to.deep.equal(new Set(['candidate']));
      active = false;
      expect(await asking).to.deep.equal(new Set(['candidate']));
      expect(proxy.candidate()).to.equal(undefined);
      const before = proxy.figures('candidate').requests;
      await answers();
      expect(proxy.figures('candidate').requests, 'it is the stable one now').to.equal(before);
      // The next rollout begins where this one ended.
      source.offer(4, answering('next'), { ...byUser, share: 100 });
      await settled(2);
      expect(new Set(await answers())).to.deep.equal(new Set(['next']));
    });

    it('that goes while a newer configuration is being installed sends no client back to what is older', async () => {
      await started(answering('stable'));
      source.offer(2, answering('candidate'), { ...byUser, share: 100 });
      await settled(1);
      const route = { directResponse: { status: 200, body: 'newer' } };
      const routes = Array.from({ length: 3_000 }, (_, n) => ({ id: `r${n}`, name: `r${n}`, ...route }));
      source.publish(4, { ...answering('newer'), routes });
      source.withdraw();
      const seen: string[] = [];
      do seen.push(await ask('somebody'));
      while (seen.at(-1) !== 'newer');
      expect(new Set(seen)).to.deep.equal(new Set(['candidate', 'newer']));
      await eventually(() => expect(proxy.candidate()).to.equal(undefined));
      expect(new Set(await answers())).to.deep.equal(new Set(['newer']));
    });

    it('that cannot be compiled is refused with its problems, and what is in force stays', async () => {
      await started(answering('stable'));
      const match = { cel: 'request.' };
      source.offer(2, {
        ...answering('x'),
        routes: [{ id: 'bad', name: 'bad', match, directResponse: { status: 200 } }],
      });
      await settled(1);
      expect(candidates.outcomes[0]?.refusal).to.be.a('string');
      expect(candidates.outcomes[0]?.problems.map(({ pointer }) => pointer)).to.deep.equal(['/routes/bad/match/cel']);
      expect(new Set(await answers())).to.deep.equal(new Set(['stable']));
      source.share(50);
      source.withdraw();
      source.offer(3, answering('candidate'), { ...byUser, share: 100 });
      await settled(2);
      expect(new Set(await answers())).to.deep.equal(new Set(['candidate']));
    });

    it('has the listeners that only it has, while it serves clients; those of both go on as they were', async () => {
      const [own, gone] = [await freePort(), await freePort()];
      const former = { id: 'gone', name: 'gone', port: gone };
      await started({ ...answering('stable'), listeners: [{ id: 'l', name: 'l', port }, former] });
      const fresh = { id: 'own', name: 'own', port: own };
      const listeners = [{ id: 'l', name: 'l', port }, fresh];
      source.offer(2, { ...answering('candidate'), listeners }, { ...byUser, share: 0.01 });
      await settled(1);
      const states = () => proxy.listeners().map(({ id, state }) => `${id} ${state}`);
      await eventually(() => expect(states()).to.deep.equal(['l open', 'gone open', 'own open']));
      expect(new Set(await Promise.all(users.map((user) => ask(user, own))))).to.deep.equal(new Set(['candidate']));
      expect(new Set(await Promise.all(users.map((user) => ask(user, gone))))).to.deep.equal(new Set(['stable']));
      source.share(0);
      await eventually(() => expect(states()).to.deep.equal(['l open', 'gone open']));
      source.share(100);
      expect(await ask('anybody', gone)).to.equal('stable');
      await eventually(() => expect(states()).to.include('own open'));
      source.complete(3);
      await proxy.installed(3, 5_000);
      await eventually(() => expect(states()).to.deep.equal(['l open', 'own open']));
      expect(await ask('anybody', own)).to.equal('candidate');
    });

    it('shares with the other what both have: connections, limits of requests', async () => {
      let connections = 0;
      const upstream = await bed.rawUpstream((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
      });
      const limiter = {
        id: 'm',
        name: 'm',
        type: 'rateLimit',
        rateLimit: { requestsPerSecond: 0.001, burst: 8 },
      } as const;
      const limited = (name: string) => ({
        ...forwarding(port, upstream.port, {
          route: { name, middlewareIds: ['m'] },
        }),
        middlewares: [limiter],
      });
      await started(limited('stable'));
      for (let n = 0; n < 4; n++) expect(await ask('someone')).to.equal('ok');
      connections = upstream.connections;
      source.offer(2, limited('candidate'), { ...byUser, share: 100 });
      await settled(1);
      for (let n = 0; n < 4; n++) expect(await ask('someone')).to.equal('ok');
      expect(await ask('someone'), 'one bucket for both').to.not.equal('ok');
      expect(upstream.connections).to.be.at.most(Math.max(1, workers));
      expect(connections).to.be.at.least(1);
      source.withdraw();
      expect(await ask('someone')).to.not.equal('ok');
    });

    it('whose destination is another one has a circuit of its own: its failures do not count for the stable one', async () => {
      const good = await bed.upstream((_request, response) => void response.end('stable'));
      const dead = await freePort();
      const circuitBreaker = { failureThreshold: 2, openDuration: '60s' };
      const to = (upstream: number) => forwarding(port, upstream, { destination: { options: { circuitBreaker } } });
      await started(to(good));
      source.offer(2, to(dead), { ...byUser, share: 50 });
      await settled(1);
      const inside = users.filter((user) => bucketOf('r2', user) < 0.5).slice(0, 5);
      const outside = users.filter((user) => bucketOf('r2', user) >= 0.5);
      for (const user of inside) expect(await ask(user)).to.not.equal('stable');
      for (const user of outside) expect(await ask(user)).to.equal('stable');
      source.withdraw();
      for (const user of inside) expect(await ask(user)).to.equal('stable');
      // Promoted, it keeps the state that it had while it was tried.
      source.offer(3, to(dead), { ...byUser, share: 100 });
      await settled(2);
      for (const user of inside) await ask(user);
      source.complete(4);
      await proxy.installed(4, 5_000);
      expect(proxy.known().circuit('d')).to.equal('open');
    });

    it('whose destination is changed has connections of its own, which stay when it is promoted', async () => {
      const upstream = await bed.rawUpstream((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
      });
      const expecting = (expectContinue: string) =>
        forwarding(port, upstream.port, { destination: { options: { timeouts: { expectContinue } } } });
      await started(expecting('1s'));
      for (let n = 0; n < 10; n++) await ask('someone');
      const before = upstream.connections;
      source.offer(2, expecting('2s'), { ...byUser, share: 100 });
      await settled(1);
      for (let n = 0; n < 10; n++) await ask('someone');
      const tried = upstream.connections;
      expect(tried).to.be.greaterThan(before);
      source.complete(3);
      await proxy.installed(3, 5_000);
      for (let n = 0; n < 10; n++) await ask('someone');
      source.publish(4, { ...expecting('2s'), routes: [...(expecting('2s').routes ?? [])] });
      await proxy.installed(4, 5_000);
      for (let n = 0; n < 10; n++) await ask('someone');
      expect(upstream.connections).to.be.at.most(before + Math.max(1, workers));
    });

    it('goes on beside an activation, and goes when it is withdrawn after that', async () => {
      const upstream = await bed.upstream((_request, response) => void response.end('candidate'));
      await started(answering('stable'));
      const trial = { ...forwarding(port, upstream), middlewares: [] };
      source.offer(2, trial, { ...byUser, share: 50 });
      await settled(1);
      const byShare = (stable: string) => users.map((user) => (bucketOf('r2', user) < 0.5 ? 'candidate' : stable));
      expect(await answers()).to.deep.equal(byShare('stable'));
      source.publish(3, answering('another', { destinations: trial.destinations }));
      await proxy.installed(3, 5_000);
      expect(await answers()).to.deep.equal(byShare('another'));
      source.withdraw();
      expect(new Set(await answers())).to.deep.equal(new Set(['another']));
    });

    it('leaves a response that has begun where it began', async () => {
      let finish = (): void => {};
      const slow = await bed.upstream((_request, response) => {
        response.write('begun ');
        finish = () => response.end('and ended');
      });
      await started(answering('stable'));
      source.offer(2, forwarding(port, slow), { ...byUser, share: 100 });
      await settled(1);
      const response = await send(`http://127.0.0.1:${port}/`, { dispatcher: candidates.agent });
      source.withdraw();
      expect(await ask('somebody')).to.equal('stable');
      await eventually(() => expect(proxy.candidate()).to.equal(undefined));
      source.offer(3, answering('next'), { ...byUser, share: 100 });
      await settled(2);
      const before = proxy.figures('candidate').requests;
      finish();
      expect(await response.body.text()).to.equal('begun and ended');
      expect(await ask('somebody')).to.equal('next');
      expect(proxy.figures('candidate').requests - before, 'what is over says nothing of the next').to.equal(1);
    });
  });
}
