// Sticky sessions by signed cookies over two nodes and a proxy apart, as real processes without a session store
// (contract.md §7.7).
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { NodeCluster } from '../support/node-cluster.ts';
import { listening } from '../support/proxy-bed.ts';
import { launchProxy, type ProxyProcess } from '../support/proxy-process.ts';

const names = ['red', 'green', 'blue', 'white'];

describe('signed sticky sessions of a cluster', () => {
  let cluster: NodeCluster;
  let proxy: ProxyProcess;
  let port: number;
  let upstreams: Server[];
  let endpoints: { host: string; port: number }[];

  const follow = (folder?: string): ProxyProcess =>
    launchProxy({
      controlPlanes: cluster.nodes.map(({ url }) => url),
      proxy: `  id: apart\n  bindAddress: ${apart}`,
      ...(folder !== undefined && { folder }),
    });
  const options = { endpointBalancing: { algorithm: 'STICKY', sticky: { cookie: { name: 's', signed: true } } } };

  before(async () => {
    upstreams = names.map((name) => createServer((_, response) => void response.end(name)));
    endpoints = [];
    for (const server of upstreams) endpoints.push({ host: '127.0.0.1', port: await listening(server) });
    cluster = await NodeCluster.start({ nodeIds: ['a', 'b'] });
    port = await freePort();
    const { api } = cluster.node('a');
    await api.create('listeners', { id: 'web', name: 'web', address: '127.0.0.1', port });
    await api.create('destinations', { id: 'd', name: 'd', host: 'x', port: 1, endpoints, options });
    await api.create('routes', { id: 'r', name: 'r', forward: { destinations: [{ destinationId: 'd' }] } });
    await api.activateAs('v1');
    proxy = follow();
    await proxy.ready();
  });

  after(async () => {
    await proxy?.stop('SIGKILL');
    await cluster?.stop();
    for (const server of upstreams) {
      server.close();
      server.closeAllConnections();
    }
  });

  const addresses = (): string[] => [...cluster.nodes.map(({ proxyAddress }) => proxyAddress), apart];
  const ask = async (address: string, cookie = '') => {
    const headers: Record<string, string> = cookie === '' ? {} : { cookie };
    const answer = await call(`http://${address}:${port}`, 'GET', '/', { headers });
    expect(answer.status, answer.text).to.equal(200);
    const [set] = [answer.headers['set-cookie'] ?? []].flat();
    return { name: answer.text, cookie: set?.split(';')[0] ?? cookie };
  };
  const signed = /^s=[A-Za-z0-9_-]{66}$/;
  /** Resolves once every proxy has the keys: a new client gets a signed cookie from each. */
  const keyed = () =>
    eventually(async () => {
      for (const address of addresses()) expect((await ask(address)).cookie, address).to.match(signed);
    });
  const clients = async () => {
    const made: { name: string; cookie: string }[] = [];
    for (let n = 0; n < 12; n++) made.push(await ask(addresses()[n % 3] ?? apart));
    for (const { cookie } of made) expect(cookie).to.match(signed);
    return made;
  };
  /** Asks each proxy for each client, which takes the cookies that it gets. */
  const stay = async (made: { name: string; cookie: string }[]): Promise<void> => {
    for (const client of made) {
      for (const address of addresses()) {
        const { name, cookie } = await ask(address, client.cookie);
        expect(name, address).to.equal(client.name);
        client.cookie = cookie;
      }
    }
  };
  /** Makes another key; resolves once every proxy has it. */
  const rotate = async (): Promise<void> => {
    const { status, headers } = await call(cluster.node('b').url, 'POST', '/api/v1/cookie-keys/rotate');
    expect(status).to.equal(200);
    const index = Number(headers['x-sluice-revision']);
    await eventually(async () => {
      for (const { url } of cluster.nodes) {
        const answer = await call(url, 'GET', '/api/v1/cookie-keys');
        expect(Number(answer.headers['x-sluice-revision'])).to.be.at.least(index);
      }
      // Its copy is written once it has taken them.
      const copy = readFileSync(join(proxy.storePath, 'last-good'), 'utf8');
      expect(copy.includes(`"cookieKeys":{"index":${index},`)).to.equal(true);
    });
  };
  const sealing = async (): Promise<string | undefined> => {
    const { text } = await call(cluster.node('a').url, 'GET', '/api/v1/cookie-keys');
    return (JSON.parse(text) as { id: string; use: string }[]).find(({ use }) => use === 'seals')?.id;
  };

  it('lead a client to its endpoint through each proxy, over rotations, an activation, and a restart of all', async () => {
    await keyed();
    const made = await clients();
    await stay(made);
    const { api } = cluster.node('b');
    const first = await sealing();
    for (let n = 0; n < 3; n++) {
      const before = made.map(({ cookie }) => cookie);
      await rotate();
      await stay(made);
      const kept = made.filter(({ cookie }, at) => cookie === before[at]);
      // The first key after the one that seals is the next one; from then on each rotation ages what was sealed.
      expect(kept, `after rotation ${n + 1}`).to.have.length(n === 0 ? made.length : 0);
    }
    expect(await sealing()).to.not.equal(first);
    const { body: current } = await api.get<{ name: string } & Record<string, unknown>>('/destinations/d');
    expect(current.name).to.equal('d');
    const more = { ...options, timeouts: { request: '30s' } };
    expect(
      (await api.put('/destinations/d', { name: 'd', host: 'x', port: 1, endpoints, options: more })).status,
    ).to.equal(200);
    await api.activateAs('v2');
    await stay(made);
    await Promise.all(cluster.nodes.map((node) => node.stop()));
    await proxy.stop();
    const { folder } = proxy;
    proxy = follow(folder);
    await proxy.ready((page) => expect(page.configuration.from).to.equal('last good copy'));
    // The proxy apart has the keys from its copy, before any node runs.
    for (const { cookie, name } of made) expect((await ask(apart, cookie)).name).to.equal(name);
    await Promise.all(cluster.nodes.map((node) => node.start()));
    await keyed();
    await stay(made);
  });

  it('show no key in a log or a page, and name them to operators', async () => {
    await keyed();
    const held = await keysOnTheStream(cluster.node('a').url);
    expect(held.length).to.be.at.least(1);
    const pages = ['/api/v1/cookie-keys', '/api/v1/debug/config', '/api/v1/fleet', '/metrics', '/api/v1/cluster'];
    const texts = [...cluster.nodes.flatMap(({ output }) => output), ...proxy.output];
    for (const path of pages) texts.push((await call(cluster.node('a').url, 'GET', path)).text);
    for (const path of ['/debug/config', '/metrics']) texts.push((await proxy.admin(path)).text);
    for (const key of held) expect(texts.some((text) => text.includes(key))).to.equal(false);
    expect(texts.join('\n')).to.match(/sluice_signed_cookies_total\{result="kept"\} [1-9]/);
  });
});

const apart = '127.0.0.11';

/** Keys as a proxy of ours is told them. */
async function keysOnTheStream(url: string): Promise<string[]> {
  const headers = { 'x-sluice-proxy': 'a-reader', 'x-sluice-boot': 'b', 'x-sluice-version': '1' };
  const { body } = await fetch(`${url}/api/v1/sync/snapshot`, { headers });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const data = /event: cookieKeys\n.*\ndata: (.*)\n\n/.exec(text)?.[1];
    if (data !== undefined) return (JSON.parse(data) as { keys: { key: string }[] }).keys.map(({ key }) => key);
  }
  return [];
}
