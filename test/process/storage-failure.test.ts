import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/needs.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { SmallDisk } from '../support/small-disk.ts';

const route = (name: string) => ({ name, match: { path: `/${name}` }, directResponse: { status: 200, body: name } });

/** Keeps files of the process from growing, as a full disk does; `more` undoes it. */
const limitFiles = ({ child }: SluiceProcess, bytes: string) =>
  execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:`]);

const postJson = { method: 'POST', headers: { 'content-type': 'application/json' } };

async function answerOf(asked: ClientRequest, body: unknown): Promise<{ status: number | undefined; text: string }> {
  asked.end(JSON.stringify(body));
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, text };
}

describe('a disk without room', () => {
  const disk = new SmallDisk();
  before(function () {
    disk.mount(this, '64m');
  });
  after(() => disk.unmount());

  it('is told by GET /disks as answers of 503 tell it, until there is room', async () => {
    const sluice = await startSluice({ folder: disk.folder });
    const api = apiClient(sluice.url);
    const told = async () => {
      const [node] = (await api.get<{ disks: { state: string }[]; problem: string | null }[]>('/disks')).body;
      return [node?.disks.map(({ state }) => state), node?.problem];
    };
    expect(await told()).to.deep.equal([['fine'], null]);
    disk.fill(100);
    await eventually(async () => expect((await api.post('/routes', route('late'))).status).to.equal(503));
    const { body } = await api.post('/routes', route('late'));
    expect(await told()).to.deep.equal([['full'], body.error]);
    disk.empty();
    await eventually(async () => expect((await api.post('/groups', { name: 'taken' })).status).to.equal(201));
    expect(await told()).to.deep.equal([['fine'], null]);
    await sluice.stop();
  });
});

describe('a store that fails while the program runs (architecture.md §6.22)', () => {
  before(function () {
    needs(this, 'prlimit');
  });

  it('stops writes and linearizable reads while the log is rejected, not traffic, and goes on by itself once it is not', async () => {
    const sluice = await startSluice({ folder: newFolder() });
    const api = apiClient(sluice.url);
    const port = await freePort();
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    await api.create('routes', route('kept'));
    await api.activateAs('v1');
    const traffic = async () => (await fetch(`http://127.0.0.1:${port}/kept`)).text();
    const ready = async () => await fetch(`${sluice.url}/readyz`);

    limitFiles(sluice, '1');
    const first = api.post('/routes', route('first'));
    await eventually(async () => expect((await ready()).status).to.equal(503));
    expect(await (await ready()).json()).to.deep.equal({ error: 'not ready: storage waits' });
    for (const answer of [await api.post('/routes', route('later')), await api.get('/routes')]) {
      expect(answer.status).to.equal(503);
      expect(answer.body.error).to.match(
        /^storage waits: a write to .*raft\/journal was rejected and is tried again: EFBIG/,
      );
    }
    expect((await api.get<unknown[]>('/routes?consistency=stale')).body).to.have.length(1);
    expect((await fetch(`${sluice.url}/healthz`)).status).to.equal(200);
    expect(await traffic()).to.equal('kept');
    limitFiles(sluice, 'unlimited');

    await eventually(async () => expect((await ready()).status).to.equal(200));
    expect((await first).status).to.be.oneOf([201, 504]);
    await api.create('routes', route('after'));
    const { body } = await api.get<{ name: string }[]>('/routes');
    expect(body.map(({ name }) => name).sort()).to.deep.equal(['after', 'first', 'kept']);
    expect(await traffic()).to.equal('kept');
    expect(await sluice.stop()).to.equal(0);
  });

  it('takes up a large batch that found the disk full, with nothing to remove by hand', async () => {
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
    const unanswered = api.post('/batch', { operations }).catch(() => undefined);
    await eventually(async () => expect((await fetch(`${sluice.url}/readyz`)).status).to.equal(503));
    await sluice.stop('SIGKILL');
    await unanswered;

    sluice = await startSluice({ folder });
    const { body: found } = await apiClient(sluice.url).get<{ name: string }[]>('/routes');
    expect(found.map(({ name }) => name)).to.deep.equal(['kept']);
    expect((await apiClient(sluice.url).post('/batch', { operations })).status).to.equal(200);
    await sluice.stop();
  });

  it('leaves no half of a large snapshot on a full disk, and has it on disk once there is room', async () => {
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
      expect(body.error).to.match(
        /^storage waits: a write to .*state\/1 was rejected and is tried again: .*[Ff]ile too large/,
      );
    });
    expect(await readdir(join(sluice.storePath, 'state', '1', 'long'))).to.deep.equal([]);
    limitFiles(sluice, 'unlimited');
    await eventually(async () =>
      expect((await apiClient(sluice.url).post('/routes', route('afterwards'))).status).to.equal(201),
    );
    await eventually(async () => expect(await readdir(join(sluice.storePath, 'state', '1', 'long'))).to.have.length(1));
    expect(await sluice.stop()).to.equal(0);

    sluice = await startSluice({ folder });
    const { body: found } = await apiClient(sluice.url).get<{ id: string }[]>('/snapshots');
    expect(found.map(({ id }) => id)).to.deep.equal([captured.body.id]);
    await sluice.stop();
  });

  it('waits while no descriptor is free, and goes on when one is', async () => {
    const sluice = await startSluice();
    const body = { ...route('large'), directResponse: { status: 200, body: 'x'.repeat(1_200_000) } };
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const post = (path: string, sent: unknown) =>
      answerOf(request(`${sluice.url}/api/v1${path}`, { ...postJson, agent }), sent);
    expect((await post('/routes', body)).status).to.equal(201);
    const limit = (most: number) => execFileSync('prlimit', ['--pid', String(sluice.child.pid), `--nofile=${most}:`]);
    limit(10);
    // Rows that are long lie in files of their own. The connection is the one of before.
    await post('/snapshots', { name: 'v1' });
    await eventually(async () => {
      const { status, text } = await post('/routes', route(`later-${performance.now()}`));
      expect(status).to.equal(503);
      expect(text).to.match(/storage waits: a write to .*state\/1 was rejected .*EMFILE/);
    });
    limit(1_024);
    await eventually(async () => expect((await post('/routes', route('after'))).status).to.equal(201));
    expect((await fetch(`${sluice.url}/readyz`)).status).to.equal(200);
    agent.destroy();
    expect(await sluice.stop()).to.equal(0);
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
