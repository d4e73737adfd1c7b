// Changes of the state as one resumable event stream (contract.md §3.6).
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { eventually } from '../support/eventually.ts';
import { type FollowedStream, followStream } from '../support/request-stream.ts';

/** Makes a route one that needs nothing else. */
const answers = { directResponse: { status: 204 } };

describe('GET /events', () => {
  let api: ApiServer;
  const open: FollowedStream[] = [];

  beforeEach(async () => {
    api = await ApiServer.start();
  });
  afterEach(async () => {
    for (const stream of open.splice(0)) stream.close();
    await api.stop();
  });

  async function follow(lastEventId?: string): Promise<FollowedStream> {
    const stream = await followStream(
      `${api.base}/api/v1/events`,
      lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
    );
    open.push(stream);
    return stream;
  }

  const namesOf = (stream: FollowedStream): string[] => stream.events.map(({ event }) => event);

  async function createRoute(name: string): Promise<{ id: string; revision: string }> {
    const { status, json, headers } = await api.call('POST', '/routes', { body: { name, ...answers } });
    expect(status).to.equal(201);
    return { id: (json as { id: string }).id, revision: String(headers['x-sluice-revision']) };
  }

  it('names an edit by kind and id, with its log index as id of the event', async () => {
    const stream = await follow();
    const { id, revision } = await createRoute('a');
    await eventually(() => expect(namesOf(stream)).to.include('staged'));
    const data = { index: Number(revision), kind: 'routes', ids: [id] };
    expect(stream.events[0]).to.deep.equal({ event: 'staged', id: revision, data });
  });

  it('tells the index from which on it names changes', async () => {
    const { revision } = await createRoute('a');
    const abort = new AbortController();
    const { headers } = await fetch(`${api.base}/api/v1/events`, { signal: abort.signal });
    abort.abort();
    expect(Number(headers.get('x-sluice-revision'))).to.be.at.least(Number(revision));
  });

  it('names snapshots, activations and rollouts', async () => {
    const stream = await follow();
    const { json: snapshot } = await api.call('POST', '/snapshots', { body: { name: 'v1' } });
    const { id } = snapshot as { id: string };
    await api.call('POST', `/snapshots/${id}/activate`);
    const { json: second } = await api.call('POST', '/snapshots', { body: { name: 'v2' } });
    const other = (second as { id: string }).id;
    await api.call('POST', `/snapshots/${other}/rollout`, { body: {} });
    await eventually(() => expect(namesOf(stream)).to.deep.equal(['snapshots', 'active', 'snapshots', 'rollout']));
    const [made, active, , rollout] = stream.events;
    expect(made?.data).to.deep.include({ ids: [id] });
    expect(active?.data).to.deep.include({ snapshotId: id });
    expect(rollout?.data).to.deep.include({ snapshotId: other, state: 'running' });
  });

  it('names what a batch has changed, and a deleted snapshot', async () => {
    const { json: snapshot } = await api.call('POST', '/snapshots', { body: { name: 'v1' } });
    const { id } = snapshot as { id: string };
    const stream = await follow();
    const operations = [{ op: 'create', kind: 'routes', body: { id: 'r-1', name: 'one', ...answers } }];
    await api.call('POST', '/batch', { body: { operations } });
    await api.call('DELETE', `/snapshots/${id}`);
    await eventually(() => expect(namesOf(stream)).to.deep.equal(['staged', 'snapshots']));
    expect(stream.events[0]?.data).to.deep.include({ ids: ['r-1'] });
    expect(stream.events[1]?.data).to.deep.include({ ids: [id] });
  });

  it('says nothing of what was refused', async () => {
    const stream = await follow();
    await createRoute('a');
    const { status } = await api.call('POST', '/routes', { body: { name: 'a', ...answers } });
    expect(status).to.equal(409);
    await createRoute('b');
    await eventually(() => expect(stream.events).to.have.length.of.at.least(2));
    expect(namesOf(stream)).to.deep.equal(['staged', 'staged']);
  });

  it('gives a client that comes back what it missed, then asks it to look at members and fleet', async () => {
    const first = await createRoute('a');
    const second = await createRoute('b');
    const stream = await follow(first.revision);
    await eventually(() => expect(namesOf(stream)).to.deep.equal(['staged', 'members', 'fleet']));
    expect(stream.events[0]?.id).to.equal(second.revision);
    await createRoute('c');
    await eventually(() => expect(namesOf(stream).at(-1)).to.equal('staged'));
  });

  it('answers a place that is not kept any more with reset', async () => {
    await createRoute('a');
    for (const place of ['0', '999999', 'no number']) {
      const stream = await follow(place);
      // A fresh node keeps everything since its start: index 0 is before its first.
      const expected = place === '0' ? ['staged', 'reset'] : ['reset'];
      await eventually(() => expect(stream.events).to.not.be.empty);
      expect(expected).to.include(namesOf(stream)[0]);
    }
  });

  it('asks a client that comes back to read everything anew where it missed more than 256 KiB of changes', async () => {
    const { revision } = await createRoute('a');
    const revisions = [revision];
    for (let batch = 0; batch < 6; batch++) {
      const operations = Array.from({ length: 100 }, (_, at) => {
        const id = `${batch}-${at}-`.padEnd(512, 'x');
        return { op: 'create', kind: 'routes', body: { id, name: id, ...answers } };
      });
      const { status, headers } = await api.call('POST', '/batch', { body: { operations } });
      expect(status).to.equal(200);
      revisions.push(String(headers['x-sluice-revision']));
    }
    const firstOf = async (place: string | undefined): Promise<string | undefined> => {
      const stream = await follow(place);
      await eventually(() => expect(stream.events).to.not.be.empty);
      return namesOf(stream)[0];
    };
    expect(await firstOf(revisions[0])).to.equal('reset');
    expect(await firstOf(revisions[3])).to.equal('staged');
  });

  it('needs a key that may read', async () => {
    const keyed = await ApiServer.start({
      options: {
        apiKeys: [
          { name: 'see', key: 'v'.repeat(20), role: 'viewer' },
          { name: 'follow', key: 'p'.repeat(20), role: 'proxy' },
        ],
      },
    });
    const statusOf = async (key: string): Promise<number> => {
      const stream = await followStream(`${keyed.base}/api/v1/events`, { authorization: `Bearer ${key}` });
      stream.close();
      return stream.status;
    };
    try {
      expect(await statusOf('v'.repeat(20))).to.equal(200);
      expect(await statusOf('p'.repeat(20))).to.equal(403);
      expect(await statusOf('wrong')).to.equal(401);
    } finally {
      await keyed.stop();
    }
  });
});
