// The executable of the other architecture, on a machine that has none: QEMU translates its instructions.
import { expect } from 'chai';
import { needs } from '../support/needs.ts';
import { forwardEverything } from '../support/one-route.ts';
import { packages } from '../support/packages.ts';
import { endOf, spawnCommand, startSluice } from '../support/sluice-process.ts';
import { startUpstream } from '../support/upstream.ts';

const executable = packages.executable('linux-arm64');
const libraries = '/usr/aarch64-linux-gnu';
const emulated = ['qemu-aarch64', '-L', libraries, executable];

describe('the executable for arm64', () => {
  before(function () {
    const needed = ['lib/libc.so.6', 'lib/libstdc++.so.6', 'lib/libatomic.so.1'];
    needs(this, executable, 'qemu-aarch64', ...needed.map((file) => `${libraries}/${file}`));
  });

  it('tells its version', async () => {
    const { stdout, code } = await endOf(spawnCommand([...emulated, '--version']));
    expect({ stdout, code }).to.deep.equal({ stdout: `sluice ${packages.version}\n`, code: 0 });
  });

  it('activates a snapshot and proxies a request', async () => {
    const upstream = await startUpstream('up');
    const sluice = await startSluice({
      more: 'proxy: { workers: 1 }',
      command: (file) => [...emulated, '--config', file],
    });
    const web = await forwardEverything(sluice.url, upstream.port);
    expect(await (await fetch(`${web}/a`)).text()).to.equal('up GET /a');
    expect(await sluice.stop()).to.equal(0);
    await upstream.close();
  });
});
