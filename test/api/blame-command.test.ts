import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { sluice } from '../support/sluice-command.ts';

describe('sluice blame', () => {
  let server: ApiServer;

  before(async () => {
    server = await ApiServer.start();
  });
  after(() => server.stop());

  it('names the activation since which a request is answered as now, and leaves out deleted snapshots', async () => {
    const ids: string[] = [];
    for (const [name, status] of [
      ['one', 201],
      ['two', 201],
      ['three', 204],
      ['four', 204],
    ] as const) {
      const body = { id: 'a', name: 'a', match: { path: '/a' }, directResponse: { status } };
      const method = name === 'one' ? 'POST' : 'PUT';
      const path = name === 'one' ? '/routes' : '/routes/a';
      expect((await server.call(method, path, { body })).status).to.be.lessThan(300);
      const { json } = await server.call('POST', '/snapshots', { body: { name } });
      ids.push((json as { id: string }).id);
      expect((await server.call('POST', `/snapshots/${ids.at(-1)}/activate`)).status).to.equal(200);
    }
    const blame = async (url: string) =>
      JSON.parse((await sluice(['blame', '--url', url, '--server', new URL(server.base).origin, '-o', 'json'])).stdout);
    expect(await blame('/a'))
      .to.deep.include({ leftOut: 0 })
      .and.to.nested.include({ 'changedBy.name': 'three', 'before.name': 'two' });
    expect((await server.call('DELETE', `/snapshots/${ids[1]}`)).status).to.equal(204);
    expect(await blame('/a'))
      .to.deep.include({ leftOut: 1 })
      .and.to.nested.include({ 'changedBy.name': 'three', 'before.name': 'one' });
    expect(await blame('/other')).to.include({ changedBy: null, before: null });
  });

  /** Answers a list of activations, and explains a request by the text of the question. */
  const blamed = async (
    activations: readonly object[],
    explained: (question: string) => { readonly status: number; readonly answer: object },
    ...args: readonly string[]
  ) => {
    const serving = createServer(async (request, response) => {
      const question = (await request.toArray()).join('');
      const { status, answer } = request.method === 'GET' ? { status: 200, answer: activations } : explained(question);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    }).listen(0, '127.0.0.1');
    try {
      await once(serving, 'listening');
      const { port } = serving.address() as AddressInfo;
      return await sluice(['blame', ...args, '--server', `http://127.0.0.1:${port}`]);
    } finally {
      serving.close();
    }
  };
  const activation = (index: number, more: object = {}) => ({
    ...{ index, at: '2026-01-01T00:00:00Z', snapshotId: `s${index}`, name: 'v', by: null, comment: null },
    ...more,
  });
  const explanation = { winner: null, middlewares: [], outcome: {} };

  it('fails with the reason where an activation cannot be explained, and none is passed over', async () => {
    const refusing = (question: string) =>
      question.includes('"s1"')
        ? { status: 403, answer: { error: 'role viewer may not explain' } }
        : { status: 200, answer: explanation };
    const { code, stderr } = await blamed([activation(2), activation(1)], refusing, '--url', '/a');
    expect({ code, stderr }).to.deep.equal({
      code: 4,
      stderr: 'sluice: the server answered 403: role viewer may not explain\n',
    });
  });

  it('says who activated what and why, where that is known, and how many snapshots are deleted', async () => {
    const explained = (question: string) => ({
      status: question.includes('"s2"') ? 404 : 200,
      answer: { ...explanation, outcome: { status: question.includes('"s1"') ? 201 : 204 } },
    });
    const by = { by: 'ann', comment: 'opens' };
    const all = [activation(3, by), activation(2), activation(1)];
    expect((await blamed(all, explained, '--url', '/a')).stdout.split('\n')).to.deep.equal([
      'answered so since activation 3 of 2026-01-01T00:00:00Z: v, by ann (opens)',
      'before by activation 1 of 2026-01-01T00:00:00Z: v',
      '  /outcome/status: 201 -> 204',
      'left out, for their snapshots are deleted: 1',
      '',
    ]);
    expect((await blamed([activation(3)], explained, '--url', '/a')).stdout).to.equal(
      'answered so since the oldest activation that is kept, activation 3 of 2026-01-01T00:00:00Z: v\n',
    );
  });

  it('needs a URL, and an activation', async () => {
    const explained = () => ({ status: 200, answer: explanation });
    expect((await blamed([activation(1)], explained)).stderr).to.contain('blame needs --url URL');
    expect((await blamed([], explained, '--url', '/a')).stderr).to.contain('nothing was ever active');
  });
});
