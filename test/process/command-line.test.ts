import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { newFolder, runSluice, startSluice } from '../support/sluice-process.ts';

describe('the command line', () => {
  it('explains itself', async () => {
    const { stdout, code } = await runSluice(['--help']);
    expect(stdout).to.contain('--config FILE').and.to.contain('Exit codes');
    expect(code).to.equal(0);
  });

  it('explains itself when asked by the word help', async () => {
    const { stdout, code } = await runSluice(['help']);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^Usage: sluice/);
  });

  it('names the option and the command that were meant', async () => {
    expect((await runSluice(['--confg', 'x'])).stderr).to.equal(
      'sluice: unknown option --confg (did you mean --config?)\n',
    );
    const { stderr, code } = await runSluice(['hlep']);
    expect(stderr).to.equal('sluice: unknown command "hlep" (did you mean help?); sluice help lists all\n');
    expect(code).to.equal(2);
  });

  it('tells version, Node and dependencies as JSON', async () => {
    const { stdout } = await runSluice(['version', '--json']);
    const said = JSON.parse(stdout) as { version: string; node: string; dependencies: Record<string, string> };
    expect(said.version).to.match(/^\d+\.\d+\.\d+$/);
    expect(said.node).to.match(/^26\./);
    expect(said.dependencies).to.include.keys('fastify', 'classic-level');
  });

  it('--version prints the version', async () => {
    const { stdout, code } = await runSluice(['--version']);
    expect(stdout).to.match(/^sluice \d+\.\d+\.\d+\n$/);
    expect(code).to.equal(0);
  });

  it('is the executable of the package, from any folder', async () => {
    const packageFile = fileURLToPath(new URL('../../package.json', import.meta.url));
    const { bin } = JSON.parse(readFileSync(packageFile, 'utf8')) as { bin: { sluice: string } };
    const elsewhere = newFolder();
    // As npm links it.
    const link = join(elsewhere, 'sluice');
    symlinkSync(join(dirname(packageFile), bin.sluice), link);
    const run = (...args: string[]) => promisify(execFile)(link, args, { cwd: elsewhere });
    expect((await run('--version')).stdout).to.match(/^sluice \d+\.\d+\.\d+\n$/);
    const refused = await run('--config', 'nowhere.yaml').catch((error: unknown) => error);
    expect(refused).to.include({ code: 1 });
    expect((refused as { stderr: string }).stderr).to.match(/^sluice: cannot read nowhere\.yaml: [^\n]*\n$/);
  });

  const folder = newFolder();
  const file = (text: string) => {
    const path = join(folder, 'settings.yaml');
    writeFileSync(path, text);
    return path;
  };
  const refused: [string, () => string[], RegExp][] = [
    [
      'a file that is not there',
      () => ['--config', join(folder, 'nowhere.yaml')],
      /^sluice: cannot read .*nowhere\.yaml: [^\n]*\n$/,
    ],
    ['a wrong key', () => ['--config', file('log: 1')], /^sluice: log must be a map\n$/],
    ['several wrong keys', () => ['--config', file('mode: x\nlog: 1')], /^sluice: mode [^\n]*; log must be a map\n$/],
    ['an unknown option', () => ['--port', '1'], /^sluice: [^\n]*--port[^\n]*\n$/],
    [
      'a store path that is a file',
      () => ['-config', file(`controlPlane: { address: "127.0.0.1:0", storePath: ${join(folder, 'settings.yaml')} }`)],
      /^sluice: cannot open the store at controlPlane\.storePath [^\n]*\n$/,
    ],
    [
      'a certificate that is none',
      () => [
        '--config',
        file(
          `controlPlane: { address: "127.0.0.1:0", storePath: ${join(folder, 'tls')}, tls: { cert: "-----BEGIN C", key: "-----BEGIN K" } }`,
        ),
      ],
      /^sluice: controlPlane\.tls cannot be used, look at cert, key and ca: [^\n]*\n$/,
    ],
  ];

  for (const [name, args, line] of refused) {
    it(`refuses ${name} with one line and exit code 1`, async () => {
      const { stderr, code } = await runSluice(args());
      expect(stderr).to.match(line);
      expect(code).to.equal(1);
    });
  }

  it('reports a store that another process has', async () => {
    const shared = newFolder();
    const first = await startSluice({ folder: shared });
    const { stderr, code } = await runSluice(['--config', join(shared, 'sluice.yaml')]);
    expect(stderr).to.match(/^sluice: [^\n]*in use by another process[^\n]*\n$/);
    expect(code).to.equal(1);
    await first.stop();
  });

  it('reports a taken port of the API', async () => {
    const first = await startSluice();
    const other = newFolder();
    const config = join(other, 'sluice.yaml');
    writeFileSync(config, `controlPlane: { address: "${new URL(first.url).host}", storePath: ${other}/data }`);
    const { stderr, code } = await runSluice(['--config', config]);
    expect(stderr).to.match(/^sluice: the API cannot listen at controlPlane\.address [^\n]*EADDRINUSE[^\n]*\n$/);
    expect(code).to.equal(1);
    await first.stop();
  });

  it('reports a taken address for other nodes', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    const folder = newFolder();
    const config = join(folder, 'sluice.yaml');
    const raft = `{ nodeId: a, bindAddress: "127.0.0.1:${port}", peers: ["a=127.0.0.1:${port}"] }`;
    writeFileSync(
      config,
      `controlPlane: { address: "127.0.0.1:0", advertiseAddress: "127.0.0.1:1", storePath: ${folder}/data, raft: ${raft} }`,
    );
    const { stderr, code } = await runSluice(['--config', config]);
    other.close();
    expect(stderr).to.equal(
      `sluice: raft cannot listen at controlPlane.raft.bindAddress 127.0.0.1:${port}: ` +
        'another process listens there; stop it or set another address (EADDRINUSE)\n',
    );
    expect(code).to.equal(1);
  });

  it('uses config.yaml of the working directory when no file is named', async () => {
    const here = newFolder();
    writeFileSync(join(here, 'config.yaml'), 'mode: elsewhere');
    const { stderr } = await runSluice([], {}, here);
    expect(stderr).to.contain('mode has an unknown mode "elsewhere"');
  });
});
