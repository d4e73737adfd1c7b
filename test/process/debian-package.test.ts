// Package of Debian under dpkg itself, in a folder of the test: installed, removed, purged.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { debianPackage } from '../../scripts/package/debian.mjs';
import { needs } from '../support/needs.ts';
import { newFolder } from '../support/sluice-process.ts';

const top = new URL('../../', import.meta.url).pathname;

describe('the package of Debian', () => {
  it('is installed, stopped and disabled when it is removed, and keeps the store when it is purged', function () {
    needs(this, 'dpkg');
    const folder = newFolder();
    const root = join(folder, 'root');
    const write = (path: string, text: string, mode = 0o644) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text, { mode });
    };
    write('sluice.deb', '');
    writeFileSync(
      join(folder, 'sluice.deb'),
      debianPackage({
        ...{ root: top, executable: Buffer.from('#!/bin/sh\n'), documents: [] },
        ...{ version: '1.0.0', architecture: 'all', date: 1_700_000_000 },
      }),
    );
    write('root/var/lib/dpkg/status', '');
    write('root/var/lib/private/sluice/state', 'acknowledged');
    write('root/var/log/private/sluice/access.log', 'line');
    mkdirSync(join(root, 'run/systemd/system'), { recursive: true });
    for (const name of ['info', 'updates', 'triggers']) mkdirSync(join(root, 'var/lib/dpkg', name));
    const calls = join(folder, 'calls');
    write('bin/systemctl', `#!/bin/sh\necho "$@" >> '${calls}'\n`, 0o755);
    const dpkg = (...args: readonly string[]) =>
      execFileSync(
        'dpkg',
        [`--root=${root}`, '--force-script-chrootless,depends,not-root', `--log=${folder}/log`, ...args],
        {
          env: { ...process.env, PATH: `${join(folder, 'bin')}:/usr/sbin:/sbin:${process.env.PATH}` },
          encoding: 'utf8',
          stdio: 'pipe',
        },
      );
    const isThere = (path: string) => existsSync(join(root, path));

    dpkg('--install', join(folder, 'sluice.deb'));
    for (const path of ['usr/bin/sluice', 'etc/sluice/config.yaml', 'usr/lib/systemd/system/sluice.service'])
      expect(isThere(path), path).to.equal(true);
    dpkg('--remove', 'sluice');
    expect(isThere('usr/bin/sluice')).to.equal(false);
    expect(isThere('etc/sluice/config.yaml')).to.equal(true);
    expect(readFileSync(calls, 'utf8').trim().split('\n')).to.deep.equal([
      'daemon-reload',
      'stop sluice.service',
      `--quiet --root=${root} disable sluice.service`,
      'daemon-reload',
    ]);
    dpkg('--purge', 'sluice');
    for (const path of ['etc/sluice', 'var/log/private/sluice']) expect(isThere(path), path).to.equal(false);
    expect(isThere('var/lib/private/sluice/state')).to.equal(true);
  });
});
