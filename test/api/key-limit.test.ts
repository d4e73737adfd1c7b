// The bound of keys in a body (contract.md §0.2 J13), at every operation of the document that takes one.
import { expect } from 'chai';
import { discardKeysMax } from '../../src/model/discard-request.ts';
import { ApiServer } from '../support/api-server.ts';
import type { Answer } from '../support/http-call.ts';
import { body, editableKinds } from '../support/resources.ts';

interface DocumentOperation {
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
}

const members = (count: number): string => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',');

describe('the bound of keys in a body', () => {
  let api: ApiServer;
  const ids: Record<string, string> = {};

  const id = (answer: Answer): string => (answer.json as { id: string }).id;

  before(async () => {
    api = await ApiServer.start();
    for (const kind of editableKinds) {
      ids[kind] = id(await api.call('POST', `/${kind}`, { body: body(kind, 'x', { id: 'x' }) }));
    }
    ids.rollout = id(await api.call('POST', '/snapshots', { body: { name: 'a' } }));
    await api.call('POST', `/snapshots/${ids.rollout}/activate`);
    ids.snapshots = id(await api.call('POST', '/snapshots', { body: { name: 'b' } }));
    ids.rollouts = id(await api.call('POST', `/snapshots/${ids.snapshots}/rollout`));
  });

  after(() => api.stop());

  it('is 413 at each operation that takes a body, and the document says so', async () => {
    const { paths } = (await api.call('GET', '/docs/doc.json')).json as Document;
    const asked: string[] = [];
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, { requestBody, responses }] of Object.entries(operations)) {
        // Between nodes, which prove themselves first; a stranger's body is not read.
        const isPeers = /^\/(api\/v1\/)?sync\/(raft|state-hash|fleet)/.test(path);
        if (requestBody?.content['application/json'] === undefined || isPeers) continue;
        const [, kind = ''] = /^\/(?:api\/v1\/)?([a-z-]+)\//.exec(path) ?? [];
        const at = path.replace(/\{[a-zA-Z]+\}/, ids[kind] ?? 'x');
        const bound = path.endsWith('/staged/discard') ? discardKeysMax : 20_000;
        const raw = `{${members(bound + 1)}}`;
        const answer = await api.call(method.toUpperCase(), at.replace(/^\/api\/v1/, ''), { body: raw });
        expect(answer.status, `${method} ${at} ${answer.text}`).to.equal(413);
        expect(answer.json).to.deep.equal({ error: `body holds more than ${bound} keys of objects` });
        expect(responses, `${method} ${path}`).to.have.property('413');
        asked.push(`${method} ${path}`);
      }
    }
    expect(asked.length).to.be.greaterThan(20);
    const told = asked.join(' ');
    for (const name of ['/batch', '/explain', '/sync/ack', '/sync/report', '/snapshots', '/log-level']) {
      expect(told).to.contain(name);
    }
  });

  it('lets 20,000 pass, of which a few are named', async () => {
    const raw = `{"url":"/",${members(19_999)}}`;
    const answer = await api.call('POST', '/explain', { body: raw });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.headers.warning).to.match(/unknown fields/);
  });

  it('is that of each operation in a batch, which names the one that is beyond it', async () => {
    const operation = (count: number, more = '') =>
      `{"op":"upsert","kind":"groups","by":"name","body":{"name":"g${count}"${more},${members(count)}}}`;
    const good = `{"operations":[${operation(15_000)},${operation(15_001)}]}`;
    expect((await api.call('POST', '/batch', { body: good })).status).to.equal(200);
    const bad = `{"operations":[${operation(10)},${operation(20_001)},${operation(11)}]}`;
    const { status, json } = await api.call('POST', '/batch', { body: bad });
    expect(status).to.equal(413);
    expect(json).to.deep.equal({ error: '/operations/1 holds more than 20000 keys of objects', operation: 1 });
    const beside = `{"operations":[],${members(20_001)}}`;
    expect(await api.call('POST', '/batch', { body: beside })).to.include({ status: 413 });
    const long = await api.call('POST', '/batch', { body: `{"operations":[],"a":"${'x'.repeat(4 * 1024 * 1024)}"}` });
    expect(long).to.include({ status: 413 });
    expect(long.json).to.deep.equal({ error: 'what stands beside the operations is larger than 4 MiB' });
    const large = operation(10, `,"large":"${'x'.repeat(4 * 1024 * 1024)}"`);
    const refused = await api.call('POST', '/batch', { body: `{"operations":[${operation(12)},${large}]}` });
    expect(refused.status).to.equal(413);
    expect(refused.json).to.deep.equal({ error: '/operations/1 is larger than 4 MiB', operation: 1 });
    expect((await api.call('GET', '/groups')).text)
      .to.contain('g15001')
      .and.not.contain('g10');
  });

  it('does not count host names of a group', async () => {
    const hostnames = Array.from({ length: 100_000 }, (_, at) => `h${at}.example`);
    const sent = { id: 'many', name: 'many', hostnames };
    expect((await api.call('POST', '/groups', { body: sent })).status).to.equal(201);
    const { json } = await api.call('GET', '/groups/many');
    expect(json).to.deep.equal({ ...sent, routeIds: [] });
  });
});
