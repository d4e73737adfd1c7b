import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { browserPath, TestBrowser } from '../support/browser.ts';
import { inMountNamespace, mountTools } from '../support/mount-namespace.ts';
import { needs } from '../support/needs.ts';
import { forwardEverything } from '../support/one-route.ts';
import { packages } from '../support/packages.ts';
import { endOf, newFolder, spawnCommand, startSluice } from '../support/sluice-process.ts';
import { startUpstream } from '../support/upstream.ts';

const executable = packages.executable('linux-x64');
const more = 'proxy: { workers: 1 }';

/** Starts an executable, has it proxy a request, and stops it. */
async function serves(options: Parameters<typeof startSluice>[0]): Promise<void> {
  const upstream = await startUpstream('up');
  try {
    const sluice = await startSluice({ more, ...options });
    const web = await forwardEverything(sluice.url, upstream.port);
    expect(await (await fetch(`${web}/a`)).text()).to.equal('up GET /a');
    expect(await sluice.stop()).to.equal(0);
  } finally {
    await upstream.close();
  }
}

/** Writes settings of one that is started by hand, and returns their file and a folder of directories to mount upon. */
function prepared(...directories: readonly string[]): { readonly folder: string; readonly file: string } {
  const folder = newFolder();
  for (const name of ['data', ...directories]) mkdirSync(join(folder, name));
  const file = join(folder, 'sluice.yaml');
  writeFileSync(file, `controlPlane: { address: 127.0.0.1:0, storePath: ${folder}/data }\n${more}\n`);
  return { folder, file };
}

/** Returns the path of a copy with one byte changed, in the middle of `part`, as it is in the executable. */
function damagedCopy(part: Buffer): string {
  const bytes = readFileSync(executable);
  const at = bytes.indexOf(part);
  expect(at, 'the part is in the executable').to.be.above(0);
  const place = at + (part.length >> 1);
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  const file = join(newFolder(), 'sluice');
  writeFileSync(file, bytes);
  chmodSync(file, 0o755);
  return file;
}

const noexec = (directory: string, size = '16m') => `mount -t tmpfs -o noexec,size=${size} tmpfs ${directory}`;

describe('the executable', () => {
  before(function () {
    needs(this, executable);
  });

  it('serves in an empty directory of a system without Node', () =>
    serves({ env: { PATH: '/nowhere' }, command: (file) => [executable, '--config', file] }));

  it('serves the dashboard: a browser makes a resource with its form and activates it', async function () {
    needs(this, browserPath);
    const sluice = await startSluice({ more, command: (file) => [executable, '--config', file] });
    const browser = await TestBrowser.start();
    try {
      const opened = await browser.open(`${sluice.url}/`);
      const { page } = opened;
      await page.getByRole('heading', { level: 1, name: 'Overview', exact: true }).waitFor();
      await page.getByRole('link', { name: 'Groups', exact: true }).click();
      await page.getByRole('button', { name: 'New group' }).click();
      await page.getByRole('textbox', { name: 'name', exact: true }).fill('shop');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('link', { name: 'Staged: 1 change', exact: true }).click();
      await page.getByRole('textbox', { name: 'Snapshot name' }).fill('v1');
      await page.getByRole('button', { name: 'Capture and activate' }).click();
      await page.getByText('Active: v1', { exact: true }).waitFor();
      await opened.close();
    } finally {
      await browser.stop();
      expect(await sluice.stop()).to.equal(0);
    }
  });

  it('serves on a read-only file system, with nothing to write but its store', async function () {
    needs(this, ...mountTools);
    await serves({
      command(file) {
        const data = file.replace(/sluice\.yaml$/, 'data');
        // Disks of their own below the root, /tmp for instance, are read-only as well.
        const everything = `for at in $(cut -d ' ' -f 5 /proc/self/mountinfo); do mount -o remount,bind,ro "$at" || true; done`;
        const written = `if touch ${file}.new 2> /dev/null; then exit 3; fi`;
        const mounts = [`mount --bind ${data} ${data}`, everything, `mount -o remount,bind,rw ${data}`, written];
        return inMountNamespace(mounts, [executable, '--config', file]);
      },
    });
  });

  it('unpacks the code of the store below the store path where runtime and temporary directory forbid to run it', async function () {
    needs(this, ...mountTools);
    const folder = newFolder();
    const [runtime, temporary] = [join(folder, 'runtime'), join(folder, 'tmp')];
    for (const directory of [runtime, temporary]) mkdirSync(directory);
    await serves({
      folder,
      env: { RUNTIME_DIRECTORY: runtime, TMPDIR: temporary },
      command: (file) => inMountNamespace([noexec(runtime), noexec(temporary)], [executable, '--config', file]),
    });
  });

  it('falls back to the temporary directory where the store forbids to run code', async function () {
    needs(this, ...mountTools);
    await serves({
      command: (file) =>
        inMountNamespace([noexec(file.replace(/sluice\.yaml$/, 'data'), '64m')], [executable, '--config', file]),
    });
  });

  it('names every directory in which the code of the store could not be run', async function () {
    needs(this, ...mountTools);
    const { folder, file } = prepared('runtime', 'tmp');
    const directories = ['runtime', 'data', 'tmp'].map((name) => join(folder, name));
    const command = inMountNamespace(
      directories.map((directory) => noexec(directory, '64m')),
      [executable, '--config', file],
    );
    const [runtime = '', , temporary = ''] = directories;
    const { code, stderr } = await endOf(spawnCommand(command, { RUNTIME_DIRECTORY: runtime, TMPDIR: temporary }));
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^sluice: [^\n]*RUNTIME_DIRECTORY, controlPlane\.storePath or TMPDIR has to allow it[^\n]*\n$/,
    );
    for (const directory of directories) expect(stderr).to.contain(directory);
  });

  it('says which directory is full', async function () {
    needs(this, ...mountTools);
    const { folder, file } = prepared('tmp');
    const directories = [join(folder, 'data'), join(folder, 'tmp')];
    const command = inMountNamespace(
      directories.map((directory) => noexec(directory, '64k')),
      [executable, '--config', file],
    );
    const { code, stderr } = await endOf(spawnCommand(command, { TMPDIR: join(folder, 'tmp') }));
    expect(code).to.equal(1);
    expect(stderr)
      .to.match(/^sluice: [^\n]*ENOSPC[^\n]*\n$/)
      .and.to.contain(join(folder, 'tmp'));
  });

  const addon = new URL('../../node_modules/classic-level/prebuilds/linux-x64/classic-level.node', import.meta.url);
  const damages: Readonly<Record<string, () => Buffer>> = {
    'classic-level.node': () => readFileSync(addon),
    // Texts that each of them alone has.
    'front.cjs': () => Buffer.from(' is needed, this is '),
    'server.cjs': () => Buffer.from('asks for votes in term'),
    'assets.json': () => Buffer.from('"classic-level.node":"'),
  };
  for (const [name, part] of Object.entries(damages))
    it(`says that it is damaged when ${name} is`, async () => {
      const { file } = prepared();
      const { code, stderr } = await endOf(spawnCommand([damagedCopy(part()), '--config', file]));
      expect(code).to.equal(1);
      expect(stderr).to.match(/^sluice: [^\n]*this executable is damaged \([^\n]*\): install it again[^\n]*\n$/);
    });
});
