import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { ImageRegistry } from '../support/image-registry.ts';
import { inMountNamespace, mountTools } from '../support/mount-namespace.ts';
import { needs } from '../support/needs.ts';
import { forwardEverything } from '../support/one-route.ts';
import { packages } from '../support/packages.ts';
import { endOf, newFolder, type SluiceProcess, spawnCommand, startSluice } from '../support/sluice-process.ts';
import { startUpstream } from '../support/upstream.ts';
import { stepsOf, walkThrough } from '../support/walk-through.ts';

const reference = `oci:${packages.image}:${packages.version}`;
const chroot = '/usr/sbin/chroot';
const skopeo = (...args: string[]) => execFileSync('skopeo', args, { encoding: 'utf8' });

/** The registry is part of this process, so commands that talk to it may not hold it up. */
async function endedWell(child: ReturnType<typeof spawnCommand>): Promise<void> {
  const { code, stderr } = await endOf(child);
  expect(code, stderr).to.equal(0);
}

interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Env: readonly string[];
}

/** Resolves with the root of the image, unpacked as a container engine does, and what it says of itself. */
function unpacked(): { readonly root: string; readonly config: ImageConfig } {
  const folder = newFolder();
  // The user of the image goes through it.
  chmodSync(folder, 0o755);
  const [layers, root] = [join(folder, 'layers'), join(folder, 'root')];
  mkdirSync(root);
  skopeo('copy', '--quiet', reference, `dir:${layers}`);
  const manifest = JSON.parse(readFileSync(join(layers, 'manifest.json'), 'utf8')) as {
    config: { digest: string };
    layers: { digest: string }[];
  };
  const blob = ({ digest }: { digest: string }) => join(layers, digest.replace('sha256:', ''));
  for (const layer of manifest.layers) execFileSync('tar', ['-xzpf', blob(layer), '-C', root]);
  const { config } = JSON.parse(readFileSync(blob(manifest.config), 'utf8')) as { config: ImageConfig };
  return { root, config };
}

/** Returns the command that runs the image with a read-only root, its volume writable, and a settings file over its own. */
function container({ root, config }: ReturnType<typeof unpacked>, settingsFile?: string): string[] {
  const own = `${root}/etc/sluice/config.yaml`;
  const mounts = [
    `mkdir -p ${root}/proc ${root}/dev && touch ${root}/etc/hosts`,
    `mount --bind ${root} ${root}`,
    `mount -t proc proc ${root}/proc`,
    `mount --rbind /dev ${root}/dev`,
    `mount --bind /etc/hosts ${root}/etc/hosts`,
    `mount --bind ${root}/var/lib/sluice ${root}/var/lib/sluice`,
    ...(settingsFile === undefined ? [] : [`mount --bind ${settingsFile} ${own}`]),
    `mount -o remount,bind,ro ${root}`,
  ];
  const inside = ['env', '-i', ...config.Env, chroot, `--userspec=${config.User}`, root];
  return inMountNamespace(mounts, [...inside, ...config.Entrypoint, ...config.Cmd]);
}

describe('the image', () => {
  let image: ReturnType<typeof unpacked>;
  let sluice: SluiceProcess;

  before(async function () {
    needs(this, join(packages.image, 'index.json'), 'skopeo', 'tar', chroot, ...mountTools);
    image = unpacked();
    const settings = { storePath: '/var/lib/sluice', more: 'proxy: { workers: 2 }' };
    sluice = await startSluice({
      ...settings,
      command(file) {
        chmodSync(file, 0o644);
        return container(image, file);
      },
    });
  });

  after(() => sluice?.stop());

  it('has a manifest for each architecture behind its tag', () => {
    for (const [architecture, loader] of Object.entries({
      amd64: 'ld-linux-x86-64.so.2',
      arm64: 'ld-linux-aarch64.so.1',
    })) {
      const said = JSON.parse(skopeo('inspect', '--override-arch', architecture, reference)) as Record<string, unknown>;
      expect(said).to.include({ Architecture: architecture, Os: 'linux' });
      const [libraries] = said.Layers as [string];
      const blob = join(packages.image, 'blobs/sha256', libraries.replace('sha256:', ''));
      expect(execFileSync('tar', ['-tzf', blob], { encoding: 'utf8' })).to.contain(loader);
    }
  });

  it('goes to a registry as it is, by the command of docs/install.md, and comes back', async function () {
    needs(this, 'bash');
    const page = readFileSync(new URL('../../docs/install.md', import.meta.url), 'utf8');
    const [, command = ''] = /`(skopeo copy --all [^`]*registry\.example\.com[^`]*)`/.exec(page) ?? [];
    const registry = await ImageRegistry.start();
    try {
      const pushed = command
        .replace('registry.example.com', registry.address)
        .replace('copy', 'copy --dest-tls-verify=false --quiet');
      const root = new URL('../..', import.meta.url).pathname;
      await endedWell(spawnCommand(['bash', '-euc', `cd ${root}; ${pushed}`]));
      const remote = `docker://${registry.address}/sluice:${packages.version}`;
      const pulled = join(newFolder(), 'pulled');
      await endedWell(
        spawnCommand([
          'skopeo',
          'copy',
          '--all',
          '--quiet',
          '--src-tls-verify=false',
          remote,
          `oci:${pulled}:${packages.version}`,
        ]),
      );
      const digestIn = (folder: string) =>
        (JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as { manifests: { digest: string }[] })
          .manifests[0]?.digest;
      expect(digestIn(pulled)).to.equal(digestIn(packages.image));
    } finally {
      await registry.close();
    }
  });

  it('runs as a user without rights on a root that it cannot write', () => {
    const status = readFileSync(`/proc/${sluice.child.pid}/status`, 'utf8');
    expect(status)
      .to.match(/^Uid:\t65532\t65532\t65532\t65532$/m)
      .and.to.match(/^CapEff:\t0+$/m);
    const mounts = readFileSync(`/proc/${sluice.child.pid}/mountinfo`, 'utf8');
    expect(mounts).to.match(/^\S+ \S+ \S+ \S+ \/ ro[, ]/m);
  });

  it('walks through the README', async function () {
    needs(this, 'bash', 'curl', 'grep', 'cut', 'sleep', 'xargs');
    const steps = stepsOf(new URL('../../README.md', import.meta.url));
    const transcript = await walkThrough(steps, sluice.url, [8081, 9000]);
    const shown = steps.map(({ output }, at) => output ?? transcript[at]);
    expect(transcript.slice(0, steps.length)).to.deep.equal(shown);
    expect(shown.join('')).to.contain('backend got GET /shop/cart');
  });

  it('lets requests in flight finish after SIGTERM and exits with 0', async () => {
    const held: ServerResponse[] = [];
    const upstream = await startUpstream('slow', (_request, response) => void held.push(response));
    const other = await startSluice({
      storePath: '/var/lib/sluice',
      command(file) {
        chmodSync(file, 0o644);
        return container(unpacked(), file);
      },
    });
    // By a name, which the libraries of the image resolve.
    const web = await forwardEverything(other.url, upstream.port, 'localhost');
    const inFlight = fetch(`${web}/`).then((response) => response.text());
    await eventually(() => expect(held).to.have.length(1));
    const stopped = other.stop('SIGTERM');
    await eventually(() => expect(other.output.join('\n')).to.contain('stopping'));
    held[0]?.end('whole');
    expect(await inFlight).to.equal('whole');
    expect(await stopped).to.equal(0);
    await upstream.close();
  });

  it('refuses to start with its own settings and no API key', async () => {
    const { code, stderr } = await endOf(spawnCommand(container(image)));
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr:
        'sluice: controlPlane.auth.apiKeys[0].key is required; ' +
        'the environment variable SLUICE_API_KEY is not set, so ${SLUICE_API_KEY} is empty\n',
    });
  });
});
