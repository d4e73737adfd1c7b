import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { sluice } from '../support/sluice-command.ts';

const route = (name: string, more: object) => ({ kind: 'routes', name, directResponse: { status: 204 }, ...more });
const [all, lost] = [route('all', { priority: 1 }), route('lost', { match: { path: '/lost' } })];
const line = 'routes/lost /match  error unreachable-route: route "lost" serves no request: route "all" wins';

describe('sluice lint', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-lint-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('places a finding in its file, and fails by its severity', async () => {
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

  it('looks at what a server has, and a capture and an apply are refused for findings, which are listed', async () => {
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
        ['lint', '--of', 'staged', '--owner', 'a'],
        ['lint', '--of', 'staged', '--var', 'A=b'],
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
});
