// Commands of docs/install.md, as far as they need no daemon and change nothing of the system: what they install to is a
// folder of the test.
import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sign } from '../../scripts/package/sign.mjs';
import { needs } from '../support/needs.ts';
import { packages } from '../support/packages.ts';
import { newFolder } from '../support/sluice-process.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/install.md'), 'utf8');

/** Returns the commands below a heading: its first block, or a later one. */
function commandsOf(heading: string, place = 0): string {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [, block] = [...section.matchAll(/```sh\n([\s\S]*?)```/g)][place] ?? [];
  if (block === undefined) throw new Error(`docs/install.md has no commands below ${heading}`);
  return block;
}

/** Runs commands with `prefix` in place of /usr/local, and returns what they print. */
function run(commands: string, prefix: string): string {
  const text = commands.replaceAll('sudo ', '').replaceAll('/usr/local', prefix);
  const env = { PATH: `${prefix}/bin:/usr/bin:/bin`, MANPATH: `${prefix}/share/man` };
  return execFileSync('bash', ['--norc', '-euc', text], { cwd: root, env, encoding: 'utf8' });
}

function prefixOf(): string {
  const folder = newFolder();
  mkdirSync(join(folder, 'bin'));
  return folder;
}

function newKey(folder: string): string {
  const key = join(folder, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  return key;
}

describe('the ways to install', () => {
  before(function () {
    needs(this, packages.executable('linux-x64'), join(packages.folder, 'SHA256SUMS'), 'bash');
  });

  it('name this version everywhere', () => {
    const named = [...page.matchAll(/sluice[-_:](\d+\.\d+\.\d+)/g)].map(([, version]) => version);
    expect(new Set(named)).to.deep.equal(new Set([packages.version]));
  });

  it('check the checksums of everything, the image too', function () {
    needs(this, 'sha256sum');
    expect(run(commandsOf('Check what you have'), prefixOf())).to.equal('');
  });

  it('check the signature of the checksums, and find a changed one', function () {
    needs(this, 'ssh-keygen');
    const folder = newFolder();
    const copy = join(folder, 'out/SHA256SUMS');
    mkdirSync(join(folder, 'out'));
    copyFileSync(join(packages.folder, 'SHA256SUMS'), copy);
    // The packaging of this run has signed; what was built before is signed here.
    const { SLUICE_TEST_SIGNER: signer = `${newKey(folder)}.pub` } = process.env;
    if (process.env.SLUICE_TEST_SIGNER === undefined) sign(copy, join(folder, 'key'));
    else copyFileSync(join(packages.folder, 'SHA256SUMS.sig'), `${copy}.sig`);
    copyFileSync(signer, join(folder, 'sluice.pub'));
    const commands = commandsOf('Check what you have', 1).replaceAll('/tmp/', `${folder}/`);
    const verify = () => execFileSync('bash', ['-euc', commands], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    expect(verify()).to.match(/^Good "file" signature for builder with ED25519 key/);
    appendFileSync(join(folder, 'out/SHA256SUMS'), '\n');
    expect(verify).to.throw(/incorrect signature/);
  });

  it('install the executable', () => {
    expect(run(commandsOf('As one executable'), prefixOf())).to.equal(`sluice ${packages.version}\n`);
  });

  it('install the archive, with a man page that says what --help says', function () {
    needs(this, 'tar', 'man');
    const prefix = prefixOf();
    const output = run(commandsOf('From an archive'), prefix);
    expect(output).to.contain(`"version": "${packages.version}"`).and.to.contain('--config FILE');
    expect(existsSync(join(prefix, 'share/doc/sluice/THIRD-PARTY'))).to.equal(true);
  });

  it('unpack the package of Debian, whose unit starts what it brings', function () {
    needs(this, 'dpkg-deb');
    const [, archive = ''] = /\.\/(out\/\S+\.deb)/.exec(commandsOf('On Debian and Ubuntu')) ?? [];
    const folder = newFolder();
    execFileSync('dpkg-deb', ['-x', join(root, archive), folder]);
    const unit = readFileSync(join(folder, 'usr/lib/systemd/system/sluice.service'), 'utf8');
    const [, program = '', settings = ''] = /^ExecStart=(\S+) --config (\S+)$/m.exec(unit) ?? [];
    expect(existsSync(join(folder, settings))).to.equal(true);
    const version = execFileSync(join(folder, program), ['version'], { encoding: 'utf8' });
    expect(version).to.equal(`sluice ${packages.version}\n`);
    const [, checker = '', ...words] = /^ExecStartPre=(\S+) (\S+) (\S+) (\S+)$/m.exec(unit) ?? [];
    const file = words.pop() ?? '';
    expect(execFileSync(join(folder, checker), [...words, join(folder, file)], { encoding: 'utf8' })).to.contain(
      'no fault',
    );
  });

  it('name an image, a compose file and a chart that are there', () => {
    for (const path of [`out/sluice-${packages.version}.oci`, 'deploy/docker/compose.yaml', 'deploy/helm/sluice']) {
      expect(page).to.contain(path);
      expect(existsSync(join(root, path)), path).to.equal(true);
    }
  });
});
