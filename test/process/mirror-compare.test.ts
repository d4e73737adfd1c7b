// Mirrors that compare, on a live process: an upstream that alters 3 % of the bodies, and secrets in what differs.

import { expect } from 'chai';
import { Agent, request } from 'undici';
import type { MirrorMismatch } from '../../src/model/answers/request-answers.ts';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { linesOf } from '../support/metric-lines.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const canary = 'CANARY-41c7e2';
const requests = 1_000;

describe('a mirror that compares', () => {
  let node: SluiceProcess;
  let api: ApiClient;
  let port: number;
  let primary: Upstream;
  let mirror: Upstream;
  const agent = new Agent({ connections: 8 });

  /** Echoes a field, which Sluice sets from a secret. */
  const upstream = (name: string, alters: (number: number) => boolean): Promise<Upstream> =>
    startUpstream(name, (incoming, response) => {
      const number = Number(incoming.headers['x-number']);
      const body = { number, key: incoming.headers['x-key'], servedBy: name, altered: alters(number) };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });

  before(async () => {
    primary = await upstream('primary', () => false);
    mirror = await upstream('mirror', (number) => number % 100 < 3);
    node = await startSluice({ more: 'proxy: { workers: 2 }' });
    api = apiClient(node.url);
    port = await freePort();
    await api.create('secrets', { id: 's', name: 's', value: canary });
    const metrics = { path: '/metrics' };
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port, metrics });
    await api.create('destinations', { id: 'p', name: 'p', host: '127.0.0.1', port: primary.port });
    await api.create('destinations', { id: 'm', name: 'm', host: '127.0.0.1', port: mirror.port });
    const forward = {
      destinations: [{ destinationId: 'p' }],
      headers: { requestHeadersToAdd: [{ key: 'x-key', value: '{{secret:value:s}}' }] },
    };
    const to = (name: string, compare: object) =>
      api.create('routes', {
        ...{ id: name, name, match: { pathPrefix: `/${name}` } },
        forward: { ...forward, mirror: { destinationId: 'm', compare } },
      });
    await to('json', { ignore: ['/servedBy'] });
    await to('bytes', { body: 'bytes' });
    await api.activateAs('v1');
  });

  after(async () => {
    await agent.close();
    await node.stop();
    await primary.close();
    await mirror.close();
  });

  const ask = async (path: string, number: number): Promise<void> => {
    const url = `http://127.0.0.1:${port}${path}`;
    const { statusCode, body } = await request(url, { dispatcher: agent, headers: { 'x-number': String(number) } });
    expect(await body.json()).to.include({ servedBy: 'primary', altered: false });
    expect(statusCode).to.equal(200);
  };

  const counts = async (route: string): Promise<Record<string, number>> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const lines = linesOf(text, 'sluice_mirror_compared_total').filter((line) => line.includes(`route="${route}"`));
    return Object.fromEntries(
      lines.map((line) => [/result="(\w+)"/.exec(line)?.[1] ?? '', Number(line.split(' ').at(-1))]),
    );
  };

  it('reports an upstream that alters 3 % of the bodies at 2.5 to 3.5 %', async () => {
    const left = Array.from({ length: requests }, (_, number) => number);
    const asking = async (): Promise<void> => {
      for (let number = left.pop(); number !== undefined; number = left.pop()) await ask('/json', number);
    };
    await Promise.all(Array.from({ length: 8 }, asking));
    await eventually(async () => {
      const all = Object.values(await counts('json')).reduce((sum, count) => sum + count, 0);
      expect(all).to.equal(requests);
    });
    const { same = 0, body = 0 } = await counts('json');
    expect(body / (same + body)).to.be.within(0.025, 0.035);
    expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).to.match(
      /sluice_mirror_latency_delta_seconds_count\{route="json",destination="m"\} 1000/,
    );
    const { body: list } = await api.get<MirrorMismatch[]>('/mirrors/mismatches?limit=5');
    expect(list).to.have.length(5);
    expect(list[0]).to.deep.include({
      ...{ result: 'body', route: 'json', routeId: 'json', destination: 'm', pointer: '/altered', header: null },
      ...{ primary: { status: 200, value: 'false' }, mirror: { status: 200, value: 'true' } },
    });
    expect((await api.get('/mirrors/mismatches?limit=0')).status).to.equal(400);
    const client = new Client({ servers: [node.url] });
    const listed = await client.output('requests', 'mismatches', '--route', 'json', '--limit', '5', '-o', 'json');
    expect(JSON.parse(listed)).to.deep.equal(list);
    const lines = (await client.output('requests', 'mismatches', '--limit', '1')).split('\n');
    expect(lines[1]).to.match(/ json +m +GET \S+ +body \/altered +false +true *$/);
    expect((await client.run(['requests', 'mismatches', '--route', 'other'])).stdout).to.equal('');
    expect((await client.run(['requests', 'mismatches', '--limit', '0'])).code).to.equal(2);
  });

  it('shows no secret in what differs', async () => {
    await ask('/bytes', 50);
    const first = async (): Promise<MirrorMismatch | undefined> =>
      (await api.get<MirrorMismatch[]>('/mirrors/mismatches?limit=1')).body[0];
    await eventually(async () => expect((await first())?.route).to.equal('bytes'));
    const { body } = await api.get<MirrorMismatch[]>('/mirrors/mismatches?limit=1000');
    expect(JSON.stringify(body)).not.to.contain(canary);
    expect(mirror.requests.at(-1)?.headers['x-key']).to.equal(canary);
  });

  it('is refused with the field that is wrong', async () => {
    const of = (compare: object) =>
      api.post('/routes', {
        name: 'wrong',
        forward: { destinations: [{ destinationId: 'p' }], mirror: { destinationId: 'm', compare } },
      });
    for (const [compare, field] of [
      [{ maxBytes: '2MiB' }, 'maxBytes'],
      [{ maxBytes: 'much' }, 'maxBytes'],
      [{ ignore: ['updatedAt'] }, 'ignore/0'],
      [{ body: 'xml' }, 'body'],
      [{ sample: 101 }, 'sample'],
      [{ headers: ['a b'] }, 'headers/0'],
    ] as const) {
      const { status, body } = await of(compare);
      expect(status, JSON.stringify(compare)).to.equal(400);
      expect(JSON.stringify(body)).to.contain(`/forward/mirror/compare/${field}`);
    }
  });
});
