// Policies per process, for any number of workers (architecture.md §6.31).
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { request } from 'undici';
import { eventually } from '../../support/eventually.ts';
import { KubernetesServer } from '../../support/kubernetes-server.ts';
import { PolicyBed } from '../../support/named-upstreams.ts';
import { TemporaryDirectories } from '../../support/temporary-directory.ts';

describe('policies with two workers', () => {
  const directories = new TemporaryDirectories();
  let bed: PolicyBed;
  beforeEach(async () => {
    bed = await PolicyBed.open({ workers: 2 });
  });
  afterEach(() => bed.end());
  after(() => directories.removeAll());

  /** On a connection of its own, so that any worker may have it. */
  const fresh = async (path = '/'): Promise<{ status: number; body: string }> => {
    const answer = await request(`http://127.0.0.1:${bed.port}${path}`, { reset: true });
    return { status: answer.statusCode, body: await answer.body.text() };
  };

  it('a breaker caps what all of them have under way', async () => {
    const held: (() => void)[] = [];
    const ports = await bed.named(['a'], (name, _, response) => void held.push(() => response.end(name)));
    await bed.balanced(ports, { circuitBreaker: { maxRequests: 3 } });
    const asked = Array.from({ length: 16 }, () => fresh());
    const refused: number[] = [];
    for (const each of asked) void each.then(({ status }) => refused.push(status));
    await eventually(() => {
      expect(refused).to.deep.equal(Array.from({ length: 13 }, () => 503));
      expect(held).to.have.length(3);
    });
    for (const answer of held) answer();
    expect((await Promise.all(asked)).filter(({ status }) => status === 200)).to.have.length(3);
  });

  it('a circuit that one opens is open for all, and an endpoint that one ejects is ejected for all', async () => {
    const bad = new Set(['b']);
    const ports = await bed.named(['a', 'b'], (name, _, response) => {
      response.writeHead(bad.has(name) ? 503 : 200).end(name);
    });
    await bed.balanced(ports, { outlierDetection: { consecutive5xx: 2, baseEjectionTime: '10m' } });
    await eventually(async () => {
      const bodies = await Promise.all(Array.from({ length: 16 }, () => fresh()));
      expect(new Set(bodies.map(({ body }) => body))).to.deep.equal(new Set(['a']));
    });
    bad.add('a');
    await bed.balanced(ports.slice(0, 1), { circuitBreaker: { failureThreshold: 3, openDuration: '10m' } });
    for (let i = 0; i < 3; i++) await fresh();
    const bodies = await Promise.all(Array.from({ length: 16 }, () => fresh()));
    for (const { body } of bodies) expect(body).to.contain('circuit_open');
  });

  it('what Kubernetes says reaches all of them, also the endpoints that come later', async () => {
    const server = new KubernetesServer();
    await server.start();
    bed.atEnd(() => server.stop());
    const ports = await bed.named(['a', 'b', 'static']);
    const publish = (...listed: readonly number[]) => {
      listed.forEach((port, i) => {
        const endpoints = [{ addresses: ['127.0.0.1'], conditions: { ready: true } }];
        server.slice('shop', 'cart', `s${i}`, [{ name: 'http', port }], endpoints);
      });
    };
    server.service('shop', 'cart', { ports: [{ name: 'http', port: 80 }] });
    const kubeconfig = join(await directories.make(), 'config');
    await writeFile(
      kubeconfig,
      JSON.stringify({
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'k' } }],
        clusters: [{ name: 'k', cluster: { server: server.url } }],
      }),
    );
    const before = process.env.KUBECONFIG;
    process.env.KUBECONFIG = kubeconfig;
    bed.atEnd(async () => {
      if (before === undefined) delete process.env.KUBECONFIG;
      else process.env.KUBECONFIG = before;
    });
    const config = bed.configuration(ports.slice(2), { discovery: { type: 'kubernetes' } });
    const destinations = config.destinations?.map((each) => ({ ...each, host: 'cart.shop', port: 80 }));
    await bed.install({ ...config, destinations });
    const answering = async () =>
      [...new Set((await Promise.all(Array.from({ length: 12 }, () => fresh()))).map(({ body }) => body))]
        .sort()
        .join(' ');
    expect(await answering()).to.equal('static');
    publish(ports[0] ?? 0);
    await eventually(async () => expect(await answering()).to.equal('a'));
    publish(ports[0] ?? 0, ports[1] ?? 0);
    await eventually(async () => expect(await answering()).to.equal('a b'));
    await bed.install({ ...config, destinations: destinations?.map((each) => ({ ...each, name: 'renamed' })) });
    expect(await answering()).to.equal('a b');
    server.removeSlice('shop', 's0');
    server.removeSlice('shop', 's1');
    await eventually(async () => expect(await answering()).to.equal('static'));
  });
});
