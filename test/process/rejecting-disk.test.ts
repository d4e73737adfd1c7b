// A disk that rejects every write when a node starts: mounted read-only after an error, or failing. Both pass.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { LosingDisk } from '../support/losing-disk.ts';
import { needs } from '../support/needs.ts';
import {
  endOf,
  launchSluice,
  newFolder,
  program,
  runSluice,
  spawnCommand,
  startSluice,
} from '../support/sluice-process.ts';
import { SmallDisk } from '../support/small-disk.ts';

interface Disk {
  readonly folder: string;
  reject(rejects: boolean): void;
  remove(): void;
}

const kept = { name: 'kept', match: { path: '/kept' }, directResponse: { status: 200, body: 'kept' } };

describe('a node that starts on a disk that rejects every write', () => {
  let disk: Disk | undefined;
  afterEach(() => disk?.remove());

  const expectServed = async ({ folder, reject }: Disk, why: RegExp): Promise<void> => {
    const [port, web] = [await freePort(), await freePort()];
    const first = await startSluice({ folder, port });
    const api = apiClient(first.url);
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port: web });
    await api.create('routes', kept);
    await api.activateAs('v1');
    await first.stop();
    reject(true);
    const second = launchSluice({ folder, port });
    second.ready.catch(() => undefined);
    const readiness = async () => await (await fetch(`${first.url}/readyz`)).text();
    try {
      await eventually(async () => expect(await readiness()).to.contain('not ready: storage waits'));
      await eventually(async () => expect(await (await fetch(`http://127.0.0.1:${web}/kept`)).text()).to.equal('kept'));
      const refused = await api.post('/routes', { ...kept, name: 'later' });
      expect(refused.status).to.equal(503);
      expect(refused.body.error).to.match(why);
      expect((await api.get<unknown[]>('/routes?consistency=stale')).body).to.have.length(1);
      reject(false);
      await eventually(async () => expect((await fetch(`${first.url}/readyz`)).status).to.equal(200));
      await api.create('routes', { ...kept, name: 'later' });
    } finally {
      await second.stop();
    }
  };

  it('serves what it has where it is mounted read-only, and goes on once it is mounted for writing', async function () {
    const small = new SmallDisk();
    small.mount(this, '64m');
    disk = {
      folder: small.folder,
      reject: (rejects) => small.mountAgain(rejects ? 'ro' : 'rw'),
      remove: () => small.unmount(),
    };
    await expectServed(disk, /^storage waits: .*(EROFS|[Rr]ead-only file system)/);
  });

  it('serves what it has where each write fails, and goes on once they succeed', async function () {
    needs(this, '/dev/fuse', 'gcc', 'pkg-config', 'fusermount3');
    if (LosingDisk.lacks !== undefined) this.skip();
    const folder = newFolder();
    mkdirSync(join(folder, 'data'));
    const losing = LosingDisk.mount(join(folder, 'data'));
    disk = { folder, reject: (rejects) => losing.fail(rejects), remove: () => losing.remove() };
    await expectServed(disk, /^storage waits: .*(EIO|[Ii]nput\/output error)/);
  });
});

describe('sluice restore', () => {
  it('leaves nothing in the way of the next attempt when the disk takes no more', async function () {
    needs(this, 'prlimit');
    const encryption = `encryption: { key: "${Buffer.alloc(32, 7).toString('base64')}" }`;
    const node = await startSluice({ controlPlane: `  ${encryption}\n` });
    const body = { directResponse: { status: 200, body: 'x'.repeat(900_000) } };
    for (let at = 0; at < 6; at++) await apiClient(node.url).create('routes', { ...body, name: `large-${at}` });
    const folder = newFolder();
    const backup = join(folder, 'backup');
    writeFileSync(backup, Buffer.from(await (await fetch(`${node.url}/api/v1/cluster/backup`)).arrayBuffer()));
    await node.stop();
    const settings = join(folder, 'sluice.yaml');
    const storePath = join(folder, 'data');
    writeFileSync(settings, `controlPlane: { storePath: ${storePath}, ${encryption} }\n`);
    const restore = ['restore', backup, '--config', settings];
    const failed = await endOf(spawnCommand(['prlimit', '--fsize=2000000', ...program, ...restore]));
    expect(failed.code).to.equal(1);
    expect(failed.stderr).to.match(/file too large|EFBIG/i);
    expect(readdirSync(storePath)).to.deep.equal([]);
    const restored = await runSluice(restore);
    expect(restored, restored.stderr).to.include({ code: 0 });
  });
});
