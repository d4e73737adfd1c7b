// Canaries in every string field of every kind, and all ways out of a process: answers to an admin and a viewer, problems of
// captures, explanations, findings, differences, metrics, recent requests, examples of shadow steps, mismatches of mirrors, reports of
// the fleet, events, headers and errors of its own, traces, log lines, and what the client prints of blame and differences
// (security.md S24, contract.md §1.6).

import { expect } from 'chai';
import type { MirrorMismatch } from '../../src/model/answers/request-answers.ts';
import { configKinds } from '../../src/model/kinds.ts';
import type { ShadowExamples } from '../../src/model/shadow.ts';
import { classOf } from '../../src/model/validation.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type Answer, call } from '../support/http-call.ts';
import { OtlpReceiver } from '../support/otlp-receiver.ts';
import { type FollowedStream, followStream } from '../support/request-stream.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { bodyWith, type Path, stringPaths, takes } from '../support/string-fields.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Part of a value that no escaping changes. */
const canary = /x7f3ac/i;
const awkward = 'Q"x7f3ac\\x7f3ac%x7f3ac\n<é x7f3ac>&x7f3ac\u{1f511}%41 x7f3ac';
/** The first that a field takes is captured; what none of them is good for is refused. */
const values = [
  awkward,
  'x7f3ac "é&<%',
  'x7f3acx',
  'x7f3ac.test',
  '/x7f3ac/"é&<%25\\',
  '/x7f3acx',
  '"x7f3ac" == "x7f3ac"',
  'https://x7f3ac.test/x7f3ac',
];
const reference = '{{secret:value:canary}}';

/** Mirror whose responses are others: they show what it was sent. */
const compared = { destinationId: 'mirror', compare: { body: 'bytes' } };

interface RolloutShadow {
  readonly examples: ShadowExamples;
}

const keys =
  '  auth: { apiKeys: [{ name: a, key: k-admin, role: admin }, { name: v, key: k-viewer, role: viewer }] }\n';

describe('secrets in every field', () => {
  let sluice: SluiceProcess;
  let receiver: OtlpReceiver;
  let upstream: Upstream;
  let mirror: Upstream;
  /** Events of all kinds, and requests as they are recorded. */
  let streams: FollowedStream[] = [];
  let port: number;
  const leaks = new Set<string>();
  let what = '';
  const captured: string[] = [];
  /** Spans of requests in which no client sent a canary. */
  const spans: OtlpReceiver['posts'] = [];
  /** Snapshot that was captured before. */
  let former = 'staged';

  const api = (method: string, path: string, body?: unknown, key = 'k-admin'): Promise<Answer> =>
    call(sluice.url, method, `/api/v1${path}`, { key, ...(body !== undefined && { body }) });
  const must = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await api(method, path, body);
    expect(answer.status, `${method} ${path} ${answer.text}`).to.be.below(300);
    return answer;
  };
  const look = (where: string, text: string): void => {
    if (canary.test(text)) leaks.add(`${what}: ${where}: ${text.slice(0, 300)}`);
  };
  const watch = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    let last: Answer | undefined;
    for (const key of ['k-viewer', 'k-admin']) {
      if (method !== 'GET' && path !== '/explain' && key === 'k-viewer') continue;
      last = await api(method, path, body, key);
      look(`${method} ${path} as ${key}`, `${JSON.stringify(last.headers)}${last.text}`);
    }
    if (last === undefined) throw new Error('nothing was asked');
    return last;
  };

  before(async () => {
    receiver = await new OtlpReceiver().start();
    upstream = await startUpstream('upstream');
    mirror = await startUpstream('mirror', ({ method, url, headers }, response) =>
      response.end(`${method} ${url} ${JSON.stringify(headers)}`),
    );
    port = await freePort();
    const traces = `telemetry:\n  traces:\n    endpoint: ${receiver.url}\n    sampleRatio: 1\n`;
    sluice = await startSluice({ controlPlane: keys, logLevel: 'debug', more: `proxy: { workers: 1 }\n${traces}` });
    streams = await Promise.all(
      ['events', 'requests/stream'].map((path) =>
        followStream(`${sluice.url}/api/v1/${path}`, { authorization: 'Bearer k-viewer' }),
      ),
    );
    await must('POST', '/secrets', { id: 'canary', name: 'canary', value: 'x7f3ac' });
    const metrics = { path: '/metrics', collect: { endpoint: true } };
    const shown = { metrics, debugHeaders: true, proxyErrors: { detail: 'full' } };
    await must('POST', '/listeners', { id: 'web', name: 'web', address: '127.0.0.1', port, ...shown });
    for (const id of ['a', 'b', 'c', 'd']) {
      await must('POST', '/destinations', { id, name: id, host: '127.0.0.1', port: upstream.port });
    }
    await must('POST', '/destinations', { id: 'mirror', name: 'mirror', host: '127.0.0.1', port: mirror.port });
    for (const id of ['m1', 'm2', 'm3'])
      await must('POST', '/middlewares', { id, name: id, type: 'headers', headers: {} });
    for (const id of ['r1', 'r2']) {
      const forward = { destinations: [{ destinationId: 'a' }], mirror: compared };
      await must('POST', '/routes', { id, name: id, match: { pathPrefix: `/${id}` }, forward });
    }
  });

  after(async () => {
    for (const stream of streams) stream.close();
    await sluice.stop();
    await upstream.close();
    await mirror.close();
    await receiver.stop();
  });

  /** Answers of upstreams and of configured bodies are what was asked for; what Sluice says itself is not. */
  const request = async (path: string): Promise<void> => {
    const headers = { 'x-user': 'u', 'x-tenant': 'a' };
    const url = `http://127.0.0.1:${port}${path}`;
    const answer = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(60_000) }).catch(
      () => undefined,
    );
    if (answer === undefined) return;
    for (const [name, value] of answer.headers) if (name.startsWith('x-sluice-')) look(`${name} of ${path}`, value);
    const text = await answer.text();
    if (/^\{"error":"[a-z_]+","status":/.test(text)) look(`error at ${path}`, text);
  };

  /** A route to an entity under test, for those that no request comes to by themselves. */
  const surroundings = async (kind: string): Promise<void> => {
    const forward = {
      destinations: [{ destinationId: kind === 'destinations' ? 'e' : 'a' }],
      timeouts: { request: '300ms' },
      mirror: compared,
    };
    const middlewareIds = kind === 'middlewares' ? ['e'] : [];
    await api('DELETE', '/routes/way');
    if (kind === 'routes' || kind === 'groups' || kind === 'listeners') return;
    await must('POST', '/routes', { id: 'way', name: 'way', match: { pathPrefix: '/way' }, forward, middlewareIds });
  };

  const walk = async (kind: (typeof configKinds)[number], path: Path, value: string): Promise<void> => {
    what = `${kind} ${path.join('/')} ${values.indexOf(value)}`;
    await must('PUT', '/secrets/canary', { name: 'canary', value });
    const body = { ...bodyWith(kind, path, reference), id: 'e' };
    if (path[0] !== 'name') Object.assign(body, { name: 'under test' });
    if (kind === 'listeners') Object.assign(body, { port: await freePort() });
    if (kind === 'listeners' && path[0] !== 'address') Object.assign(body, { address: '127.0.0.1' });
    const created = await watch('POST', `/${kind}`, body);
    expect(created.status, `${what} ${created.text}`).to.equal(201);
    await surroundings(kind);
    const snapshot = await watch('POST', '/snapshots', { name: what });
    await watch('POST', '/batch?dryRun=true', { operations: [], snapshot: { name: `${what} dry` } });
    if (snapshot.status === 201) {
      captured.push(what);
      const { id } = snapshot.json as { id: string };
      await watch('POST', `/snapshots/${id}/activate`);
      await watch('GET', `/snapshots/${id}`);
      await watch('GET', '/debug/config');
      for (const url of ['/way/x?q=1', '/shop/a', '/x', '/a/1', '/api/r1/x', '/r1', '/unknown']) {
        const headers = { host: 'shop.example', 'x-tenant': 'a', 'x-user': 'u' };
        await watch('POST', '/explain', { url, headers, snapshot: id });
        await request(url);
      }
      await watch('GET', '/requests');
      // The findings of both are in it, and a viewer sees what others see.
      const { text } = await api('POST', '/diff', { from: former, to: id, replay: { limit: 50 } }, 'k-viewer');
      look(`POST /diff from ${former}`, text);
      await watch('GET', `/findings?of=${id}`);
      former = id;
      await watch('GET', '/fleet');
      const scrape = await call(`http://127.0.0.1:${port}`, 'GET', '/metrics');
      expect(scrape.text, what).to.contain('sluice_route_requests_total');
      look('metrics of the listener', scrape.text);
    } else expect(snapshot.status, `${what} ${snapshot.text}`).to.equal(400);
    await watch('GET', `/${kind}`);
    await must('DELETE', `/${kind}/e`);
  };

  /** Runs commands of the client: blame compares explanations by itself. */
  const commands = async (): Promise<void> => {
    const client = new Client({ servers: [sluice.url], apiKey: 'k-viewer' });
    for (const args of [
      ['blame', '--url', '/way/x?q=1', '-H', 'x-tenant: a'],
      ['blame', '--url', 'http://shop.example/shop/a', '-o', 'json'],
      ['diff', former, 'staged', '--replay'],
    ]) {
      const { stdout, stderr, code } = await client.run(args);
      expect(code, `${args.join(' ')} ${stderr}`).to.be.oneOf([0, 3]);
      look(`sluice ${args.join(' ')}`, `${stdout}${stderr}`);
    }
  };

  for (const kind of configKinds) {
    it(`are shown by no way out: ${kind}`, async () => {
      for (const path of stringPaths(classOf[kind])) {
        const body = bodyWith(kind, path, reference);
        const good = values.find((value) => takes(kind, path, body, value));
        for (const value of new Set([awkward, good ?? awkward])) await walk(kind, path, value);
      }
      const ways = ['/snapshots', '/activations', '/metrics', '/docs/doc.json', '/mirrors/mismatches?limit=1000'];
      for (const name of ways) await watch('GET', name);
      const activations = (await must('GET', '/activations')).json as { index: number }[];
      for (const { index } of activations.slice(-20)) await watch('GET', `/activations/${index}/diff`);
      await commands();
      expect([...leaks].join('\n')).to.equal('');
    });
  }

  it('are shown by no mismatch of a mirror', async () => {
    what = 'mismatches';
    await eventually(async () => {
      const { json } = await watch('GET', '/mirrors/mismatches?limit=1000');
      expect((json as MirrorMismatch[]).length).to.be.greaterThan(100);
    });
    expect([...leaks].join('\n')).to.equal('');
  });

  it('are shown by no event and no record of a request', () => {
    what = 'streams';
    for (const { events } of streams) {
      expect(events.length).to.be.greaterThan(60);
      for (const event of events) look(event.event, JSON.stringify(event));
    }
    expect([...leaks].join('\n')).to.equal('');
  });

  it('are shown by no example of a shadow step', async () => {
    const say = (id: string, body: string) => ({
      ...{ id, name: id, match: { pathPrefix: '/' }, priority: 1_000, directResponse: { status: 200, body } },
    });
    // A span has the path as the client sent it.
    await eventually(() => expect(receiver.posts.length).to.be.greaterThan(0));
    spans.push(...receiver.posts);
    await must('POST', '/routes', say('all', 'stable'));
    for (const value of values) {
      what = `shadow ${values.indexOf(value)}`;
      await must('PUT', '/secrets/canary', { name: 'canary', value });
      const holding = { directResponse: { status: 200, body: reference }, match: { pathPrefix: '/holding' } };
      await api('DELETE', '/routes/holding');
      await must('POST', '/routes', { id: 'holding', name: 'holding', ...holding });
      await must('PUT', '/routes/all', say('all', 'stable'));
      const stable = (await must('POST', '/snapshots', { name: `stable of ${what}` })).json as { id: string };
      await must('POST', `/snapshots/${stable.id}/activate`);
      await must('PUT', '/routes/all', say('all', 'candidate'));
      const candidate = (await must('POST', '/snapshots', { name: `candidate of ${what}` })).json as { id: string };
      const plan = { steps: [{ shadow: true, hold: '1h' }], guards: [], checkInterval: '100ms' };
      const { id } = (await must('POST', `/snapshots/${candidate.id}/rollout`, plan)).json as { id: string };
      const encoded = encodeURIComponent(value);
      // The second is longer than what is shown: the cut would leave a part of the secret.
      const targets = [`/${encoded}?${encoded}=1`, `/${'a'.repeat(246)}${encoded}`];
      await eventually(async () => {
        for (const target of targets) await request(target);
        const { json } = await watch('GET', `/rollouts/${id}`);
        const { shadow } = json as { shadow: RolloutShadow };
        expect(shadow.examples.answersChanged.length).to.be.greaterThan(3);
      });
      await watch('GET', '/rollouts');
      await watch('POST', `/rollouts/${id}/abort`);
    }
    expect([...leaks].join('\n')).to.equal('');
  });

  it('are in no line of the log and in no span', async () => {
    expect(captured.length).to.be.greaterThan(60);
    await sluice.stop();
    what = 'log';
    for (const line of sluice.output) look('line', line);
    for (const { text } of spans) look('span', text);
    expect(spans.length).to.be.greaterThan(0);
    expect([...leaks].join('\n')).to.equal('');
  });
});
