import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';

const sluice = (args: readonly string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const program = ['--import', './test/support/decorators.mjs', 'src/main.ts', ...args];
    execFile(process.execPath, program, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr }),
    );
  });

const route = (name: string, more: object) => ({ kind: 'routes', name, directResponse: { status: 204 }, ...more });
const [all, lost] = [route('all', { priority: 1 }), route('lost', { match: { path: '/lost' } })];
const line = 'routes/lost /match  error unreachable-route: route "lost" serves no request: route "all" wins';

describe('sluice lint and sluice blame', () => {
  let server: ApiServer;
  let folder: string;

  before(async () => {
    server = await ApiServer.start();
    folder = await mkdtemp(join(tmpdir(), 'sluice-lint-'));
  });
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  it('lint places a finding in its file, and fails by its severity', async () => {
    const file = join(folder, 'a.yaml');
    const answer = 'directResponse: {status: 204}';
    const lines = [
      'kind: routes',
      'name: all',
      'priority: 1',
      answer,
      '---',
      'kind: routes',
      'name: lost',
      'match: {path: /lost}',
      answer,
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    const { code, stdout, stderr } = await sluice(['lint', '-f', file, '-o', 'sarif']);
    expect(code, stderr).to.equal(1);
    const [result, ...others] = JSON.parse(stdout).runs[0].results;
    expect(others).to.deep.equal([]);
    expect(result).to.include({ ruleId: 'unreachable-route', level: 'error' });
    expect(result.locations[0].physicalLocation).to.deep.equal({
      artifactLocation: { uri: file },
      region: { startLine: 8, startColumn: 1 },
    });
    await writeFile(file, `${lines.slice(0, 4).join('\n')}\n`);
    expect((await sluice(['lint', '-f', file, '--fail-on', 'info'])).code).to.equal(0);
    expect((await sluice(['lint', '-f', file, '--fail-on', 'fatal'])).stderr).to.contain('error, warning, info');
  });

  it('lint looks at what a server has, and a capture and an apply are refused for findings, which are listed', async () => {
    const other = await ApiServer.start();
    try {
      const ask = (...args: string[]) => sluice([...args, '--server', new URL(other.base).origin]);
      const file = join(folder, 'server.yaml');
      await writeFile(file, JSON.stringify(all));
      expect((await ask('apply', '-f', file, '--activate', '--fail-on', 'error')).code).to.equal(0);
      expect(await ask('lint', '--of', 'active')).to.deep.include({ code: 0, stdout: 'no finding\n' });
      await writeFile(file, `${JSON.stringify(all)}\n---\n${JSON.stringify(lost)}\n`);
      for (const args of [['--activate'], ['--dry-run'], ['--rollout', '100']]) {
        const { code, stderr } = await ask('apply', '-f', file, ...args, '--fail-on', 'error');
        expect(code, args.join(' ')).to.equal(4);
        expect(stderr).to.contain('the server answered 422: findings').and.to.contain(`\n${line}`);
      }
      expect((await ask('apply', '-f', file)).code).to.equal(0);
      const found = await ask('lint', '--of', 'staged');
      expect(found).to.include({ code: 1 });
      expect(found.stdout)
        .to.contain(line)
        .and.to.match(/1 finding\n$/);
      const { findings } = JSON.parse((await ask('lint', '--of', 'staged', '-o', 'json')).stdout);
      expect(findings).to.have.length(1);
      expect(findings[0]).to.include({ rule: 'unreachable-route', name: 'lost' });
      expect((await ask('snapshot', 'create', 'v2', '--fail-on', 'error')).stderr).to.contain(line);
      expect((await ask('snapshot', 'create', 'v2')).code).to.equal(0);
      expect((await ask('lint', '--of', 'v2')).code).to.equal(1);
      const wrong = [
        ['lint', '--of', 'staged', '-f', file],
        ['lint', '--of', 'staged', '-o', 'sarif'],
        ['apply', '-f', file, '--fail-on', 'error'],
        ['apply', '-f', file, '--activate', '--fail-on', 'fatal'],
        ['snapshot', 'create', '--fail-on', 'fatal'],
      ];
      for (const args of wrong) expect((await ask(...args)).code, args.join(' ')).to.equal(2);
    } finally {
      await other.stop();
    }
  });

  it('a dry run is refused for findings of what an earlier apply staged, as the apply is', async () => {
    const other = await ApiServer.start();
    try {
      const file = join(folder, 'staged.yaml');
      const apply = (...args: string[]) =>
        sluice(['apply', '-f', file, '--server', new URL(other.base).origin, ...args]);
      await writeFile(file, JSON.stringify(all));
      expect((await apply('--activate')).code).to.equal(0);
      await writeFile(file, `${JSON.stringify(all)}\n---\n${JSON.stringify(lost)}\n`);
      expect((await apply()).code).to.equal(0);
      for (const how of ['--dry-run', '--activate']) {
        const { code, stderr } = await apply(how, '--fail-on', 'error');
        expect(code, how).to.equal(4);
        expect(stderr).to.contain(`\n${line}`);
      }
      const unlimited = await apply('--dry-run');
      expect(unlimited.code, unlimited.stderr).to.equal(0);
    } finally {
      await other.stop();
    }
  });

  it('blame names the activation since which a request is answered as now, and leaves out deleted snapshots', async () => {
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

  it('blame fails with the reason where an activation cannot be explained, and none is passed over', async () => {
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

  it('blame says who activated what and why, where that is known, and how many snapshots are deleted', async () => {
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

  it('blame needs a URL, and an activation', async () => {
    const explained = () => ({ status: 200, answer: explanation });
    expect((await blamed([activation(1)], explained)).stderr).to.contain('blame needs --url URL');
    expect((await blamed([], explained, '--url', '/a')).stderr).to.contain('nothing was ever active');
  });
});
