import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ca, server } from '../support/certificates.ts';
import { type Answer, call } from '../support/http-call.ts';
import { type ClusterNode, type ClusterSetup, NodeCluster } from '../support/node-cluster.ts';
import { body, editableKinds } from '../support/resources.ts';

const key = 'an admin key';
const folder = mkdtempSync(join(tmpdir(), 'sluice-certificates-'));
const pem = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const files = { cert: pem('cert', server.cert), key: pem('key', server.key), ca: pem('ca', ca) };

const setups: [string, ClusterSetup][] = [
  ['without API keys', {}],
  [
    'with API keys and no cluster token, over TLS',
    {
      clusterToken: undefined,
      caller: { key, tls: { ca } },
      controlPlane:
        `  tls: { cert: ${files.cert}, key: ${files.key}, ca: ${files.ca}, clientAuth: optional }\n` +
        `  auth: { apiKeys: [{ name: ops, key: ${key} }, { name: eyes, key: a viewer key, role: viewer }] }\n`,
    },
  ],
];

interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One life of a resource and everything that can be refused on the way; `id` differs between the nodes asked. */
const storyOf = (kind: (typeof editableKinds)[number], id: string): Step[] => [
  { method: 'POST', path: `/${kind}`, body: body(kind, id, { id }) },
  { method: 'POST', path: `/${kind}`, body: body(kind, id, { id }) },
  { method: 'POST', path: `/${kind}`, body: body(kind, id) },
  { method: 'POST', path: `/${kind}`, body: '{' },
  { method: 'POST', path: `/${kind}`, body: { name: 7 } },
  { method: 'POST', path: `/${kind}?fieldValidation=strict`, body: body(kind, `${id}-2`, { unknown: true }) },
  { method: 'GET', path: `/${kind}/${id}` },
  { method: 'GET', path: `/${kind}/${id}?consistency=stale` },
  { method: 'GET', path: `/${kind}/none` },
  { method: 'GET', path: `/${kind}?consistency=perhaps` },
  { method: 'PUT', path: `/${kind}/${id}`, body: body(kind, id), headers: { 'if-match': '"1"' } },
  { method: 'PUT', path: `/${kind}/${id}`, body: body(kind, id, { unknown: true }) },
  { method: 'PUT', path: `/${kind}/none`, body: body(kind, 'none') },
  { method: 'DELETE', path: `/${kind}/${id}`, headers: { 'if-match': '"1"' } },
  { method: 'DELETE', path: `/${kind}/${id}`, headers: { 'if-match': '*' } },
  { method: 'DELETE', path: `/${kind}/${id}` },
  { method: 'PATCH', path: `/${kind}` },
];

const snapshotStory = (name: string): Step[] => [
  { method: 'POST', path: '/snapshots', body: {} },
  { method: 'POST', path: '/snapshots', body: { name } },
  { method: 'POST', path: '/snapshots', body: { name } },
  { method: 'GET', path: '/snapshots/none' },
  { method: 'POST', path: '/snapshots/none/activate' },
  { method: 'DELETE', path: '/snapshots/none' },
];

/** An answer without what must differ: ids, revisions, times. */
function comparable(answer: Answer, id: string): unknown {
  const text = (value: string): string =>
    value
      .replaceAll(id, 'ID')
      .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')

      .replace(/revision \d+/, 'revision N')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
  const headers = Object.entries(answer.headers).filter(([name]) => name !== 'date');
  const shown = headers.map(([name, value]) => {
    const isRevision = name === 'etag' || name === 'x-sluice-revision' || name === 'content-length';
    return [name, isRevision ? 'N' : text(String(value))];
  });
  return { status: answer.status, headers: Object.fromEntries(shown), text: text(answer.text) };
}

for (const [what, setup] of setups) {
  const options = setup.caller;
  describe(`a follower ${what}`, () => {
    let cluster: NodeCluster;
    let leader: ClusterNode;
    let follower: ClusterNode;

    before(async () => {
      cluster = await NodeCluster.start(setup);
      leader = await cluster.leader();
      [follower = leader] = await cluster.followers();
      expect(follower).not.to.equal(leader);
    });

    after(() => cluster.stop());

    const tell = async (node: ClusterNode, steps: readonly Step[], id: string): Promise<unknown[]> => {
      const answers: unknown[] = [];
      for (const { method, path, ...step } of steps) {
        const answer = await call(node.url, method, `/api/v1${path}`, { ...options, ...step });
        expect(answer.status, `${method} ${path}: ${answer.text}`).to.be.lessThan(500);
        answers.push([method, path.replaceAll(id, 'ID'), comparable(answer, id)]);
      }
      return answers;
    };

    for (const kind of editableKinds) {
      it(`answers for ${kind} as the leader does`, async () => {
        const id = `of-the-${kind}`;
        const expected = await tell(leader, storyOf(kind, id), id);
        expect(await tell(follower, storyOf(kind, id), id)).to.deep.equal(expected);
      });
    }

    it('answers for snapshots as the leader does', async () => {
      const expected = await tell(leader, snapshotStory('snapshot-of-l'), 'snapshot-of-l');
      expect(await tell(follower, snapshotStory('snapshot-of-f'), 'snapshot-of-f')).to.deep.equal(expected);
    });

    it('shows the same bytes and entity tags as the leader', async () => {
      const created = await call(follower.url, 'POST', '/api/v1/groups', { ...options, body: { name: 'tagged' } });
      const path = String(created.headers.location);
      const [theirs, ours] = await Promise.all(
        [leader, follower].map(({ url }) => call(url, 'GET', path, { ...options })),
      );
      expect(ours?.status).to.equal(200);
      expect(ours?.text).to.equal(theirs?.text).and.to.equal(created.text);
      expect(ours?.headers.etag).to.equal(theirs?.headers.etag).and.to.equal(created.headers.etag);
    });

    it('refuses a relayed command without the credential of the cluster', async () => {
      const stranger = await call(leader.url, 'POST', '/sync/raft', { ...options, body: '{}' });
      expect(stranger.status).to.equal(401);
    });
  });
}

after(() => rmSync(folder, { recursive: true, force: true }));
