import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/needs.ts';
import { rejection } from '../support/rejection.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const route = (name: string) => ({ name, match: { path: `/${name}` }, directResponse: { status: 200, body: name } });

/** From now on no file of the process may grow: what a full disk does, undone by `more`. */
const limitFiles = ({ child }: SluiceProcess, bytes: string) =>
  execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:`]);

describe('a store that fails while the program runs (architecture.md §6.22)', () => {
  before(function () {
    needs(this, 'prlimit');
  });

  it('stops writes and linearizable reads, not traffic, and loses nothing that was answered', async () => {
    const folder = newFolder();
    let sluice = await startSluice({ folder });
    let api = apiClient(sluice.url);
    const port = await freePort();
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    await api.create('routes', route('kept'));
    await api.activateAs('v1');
    const traffic = async () => (await fetch(`http://127.0.0.1:${port}/kept`)).text();
    const statusOf = async (path: string) => (await fetch(`${sluice.url}${path}`)).status;

    limitFiles(sluice, '1');
    const first = await api.post('/routes', route('first'));
    expect(first.status).to.equal(504);
    limitFiles(sluice, 'unlimited');

    for (const answer of [await api.post('/routes', route('later')), await api.get('/routes')]) {
      expect(answer.status).to.equal(503);
      expect(answer.body.error).to.match(/^storage failed: /);
    }
    expect((await api.get<unknown[]>('/routes?consistency=stale')).body).to.have.length(1);
    expect(await statusOf('/readyz')).to.equal(503);
    expect(await statusOf('/healthz')).to.equal(200);
    expect(await traffic()).to.equal('kept');
    expect(await sluice.stop()).to.equal(0);

    sluice = await startSluice({ folder });
    api = apiClient(sluice.url);
    const { body } = await api.get<{ name: string }[]>('/routes');
    expect(body.map(({ name }) => name))
      .to.include('kept')
      .and.not.include('later');
    expect(await traffic()).to.equal('kept');
    await sluice.stop();
  });

  it('ends in the same way where a large batch finds the disk full', async () => {
    const folder = newFolder();
    let sluice = await startSluice({ folder });
    const api = apiClient(sluice.url);
    await api.create('routes', route('kept'));
    const body = { name: 'large', directResponse: { status: 200, body: 'x'.repeat(1_000_000) } };
    const operations = Array.from({ length: 8 }, (_, at) => ({
      ...{ op: 'create', kind: 'routes' },
      body: { ...body, name: `large-${at}` },
    }));

    // The log takes the first half of it.
    limitFiles(sluice, '4000000');
    expect((await api.post('/batch', { operations })).status).to.equal(504);
    limitFiles(sluice, 'unlimited');
    for (const answer of [await api.post('/routes', route('later')), await api.get('/routes')]) {
      expect(answer.status).to.equal(503);
      expect(answer.body.error).to.match(/^storage failed: log write failed: .*[Ff]ile too large/);
    }
    expect((await api.get<unknown[]>('/routes?consistency=stale')).body).to.have.length(1);
    expect(await sluice.stop()).to.equal(0);

    await rejection(startSluice({ folder })).then(({ message }) =>
      expect(message).to.match(/cannot open the store .*: log write failed: .*[Ff]ile too large/),
    );
    await rm(join(sluice.storePath, 'raft', 'POISON'));
    sluice = await startSluice({ folder });
    const { body: found } = await apiClient(sluice.url).get<{ name: string }[]>('/routes');
    expect(found.map(({ name }) => name)).to.deep.equal(['kept']);
    await sluice.stop();
  });

  it('leaves no half of a large snapshot on a full disk, and has it from the log once there is room', async () => {
    const folder = newFolder();
    let sluice = await startSluice({ folder });
    const body = { directResponse: { status: 200, body: 'x'.repeat(1_000_000) } };
    for (const half of ['a', 'b']) {
      const operations = Array.from({ length: 5 }, (_, at) => ({
        ...{ op: 'create', kind: 'routes' },
        body: { ...body, name: `large-${half}${at}` },
      }));
      expect((await apiClient(sluice.url).post('/batch', { operations })).status).to.equal(200);
    }
    await sluice.stop();

    // A new start begins a new file of the log: nothing but the snapshot's own is too large.
    sluice = await startSluice({ folder });
    limitFiles(sluice, '9000000');
    const captured = await apiClient(sluice.url).post<{ id: string }>('/snapshots', { name: 'v1' });
    expect(captured.status).to.equal(201);
    await eventually(async () => {
      const { status, body } = await apiClient(sluice.url).post('/routes', route('later'));
      expect(status).to.equal(503);
      expect(body.error).to.match(/^storage failed: .*[Ff]ile too large/);
    });
    expect(await readdir(join(sluice.storePath, 'state', '1', 'long'))).to.deep.equal([]);
    limitFiles(sluice, 'unlimited');
    expect(await sluice.stop()).to.equal(0);

    sluice = await startSluice({ folder });
    const { body: found } = await apiClient(sluice.url).get<{ id: string }[]>('/snapshots');
    expect(found.map(({ id }) => id)).to.deep.equal([captured.body.id]);
    await eventually(async () => expect(await readdir(join(sluice.storePath, 'state', '1', 'long'))).to.have.length(1));
    await sluice.stop();
  });

  it('ends the program with exit code 1 and says so where onStorageFailure is exit', async () => {
    const sluice = await startSluice({ controlPlane: '  onStorageFailure: exit\n' });
    const ended = once(sluice.child, 'close');
    limitFiles(sluice, '1');
    await apiClient(sluice.url)
      .post('/routes', route('first'))
      .catch(() => {});
    await ended;
    expect(sluice.child.exitCode).to.equal(1);
    expect(sluice.output.join('\n')).to.contain('the process ends, as onStorageFailure says');
  });
});
