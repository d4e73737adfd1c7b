// The command line against a cluster of three nodes, through a follower, with keys of each role.
import { once } from 'node:events';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { faults, type Schema, type Schemas } from '../support/openapi-schema.ts';

const keys = { admin: 'admin-key', editor: 'editor-key', viewer: 'viewer-key' } as const;
const auth = `  auth: { apiKeys: [${Object.entries(keys)
  .map(([role, key]) => `{ name: ${role}, key: ${key}, role: ${role} }`)
  .join(', ')}] }\n  encryption: { key: "${Buffer.alloc(32, 7).toString('base64')}" }\n`;

/** Requests one after the other: a step of a rollout does not end without any. */
class Traffic {
  #isOver = false;
  readonly #ended: Promise<void>;

  constructor(ask: () => Promise<unknown>) {
    this.#ended = this.#run(ask);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  async #run(ask: () => Promise<unknown>): Promise<void> {
    while (!this.#isOver) await ask();
  }
}

describe('the command line of a cluster', () => {
  let cluster: NodeCluster;
  let follower: ClusterNode;
  let admin: Client;
  let editor: Client;
  let viewer: Client;
  let port: number;
  let otherPort: number;

  before(async () => {
    cluster = await NodeCluster.start({ controlPlane: auth, caller: { key: keys.admin } });
    [follower] = (await cluster.followers()) as [ClusterNode];
    const client = (role: keyof typeof keys) => new Client({ servers: [follower.url], apiKey: keys[role] });
    [admin, editor, viewer] = [client('admin'), client('editor'), client('viewer')];
    [port, otherPort] = [await freePort(), await freePort()];
  });

  after(() => cluster?.stop());

  const conf = (body: string) => `owner: team-shop
listeners:
  - { name: web, port: ${port} }
  - { name: intern, port: ${otherPort} }
destinations:
${[1, 2, 3, 4, 5, 6].map((n) => `  - { name: d${n}, host: 127.0.0.1, port: ${9000 + n} }`).join('\n')}
middlewares:
${[1, 2, 3, 4, 5, 6].map((n) => `  - { name: m${n}, type: headers, headers: { requestHeadersToAdd: [{ key: x-${n}, value: "{{secret:value:token}}" }] } }`).join('\n')}
routes:
${[1, 2, 3, 4, 5].map((n) => `  - { name: r${n}, match: { pathPrefix: /r${n} }, middlewareIds: [m${n}], forward: { destinations: [{ destinationId: d${n} }] } }`).join('\n')}
  - { name: hello, match: { path: /hello }, directResponse: { status: 200, body: ${body} } }
groups:
  - { name: all, hostnames: [shop.example], routeIds: [r1, r2], middlewareIds: [m6] }
`;

  /** Asks as one of many clients: each address of loopback is one. */
  const askAsAny = async () => {
    const localAddress = `127.0.1.${1 + Math.floor(Math.random() * 250)}`;
    const request = get({ host: follower.proxyAddress, port, path: '/hello', localAddress, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
  };

  const answerOf = async () => {
    const response = await fetch(`http://${follower.proxyAddress}:${port}/hello`);
    return await response.text();
  };

  it('a whole set-up goes live by one apply, is changed and rolled out by one more, and undone by one command', async () => {
    expect((await editor.run(['secret', 'set', 'token', '--owner', 'team-shop'], 'hunter2\n')).code).to.equal(0);
    editor.write('conf/shop.yaml', conf('one'));
    const first = await editor.run(['apply', '-f', 'conf/', '--activate', '--wait', 'all']);
    expect(first.stderr).to.equal('');
    expect(first.stdout).to.match(
      /^staged {4}21 changes in one batch \(index \d+\)\nsnapshot {2}\S+ "team-shop \d{4}-\d\d-\d\d \d\d:\d\d"\n(waiting .*\n)*done {6}live everywhere in \S+ · undo: sluice rollback\n$/,
    );
    expect(await answerOf()).to.equal('one');
    expect(await editor.output('apply', '-f', 'conf/', '--activate')).to.equal('no change\n');

    editor.write('conf/shop.yaml', conf('two'));
    const traffic = new Traffic(askAsAny);
    const second = await editor.run([
      'apply',
      '-f',
      'conf/',
      '--activate',
      '--rollout',
      '50:100ms,100',
      '--wait',
      'all',
    ]);
    await traffic.end();
    expect(second.stderr).to.equal('');
    expect(second.code).to.equal(0);
    expect(second.stdout).to.contain('done      live everywhere');
    expect(await answerOf()).to.equal('two');

    expect(await editor.output('rollback', '--wait', 'all')).to.match(/^live {6}"team-shop .*" again \(index \d+\)\n/);
    expect(await answerOf()).to.equal('one');
  });

  it('forms of JSON are those that the document of the API has', async () => {
    const response = await fetch(`${follower.url}/api/v1/docs/doc.json`);
    const { components } = (await response.json()) as { components: { schemas: Schemas } };
    const { schemas } = components;
    const list = (name: string): Schema => ({ type: 'array', items: { $ref: `#/components/schemas/${name}` } });
    const one = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
    const expected: readonly (readonly [args: string, schema: Schema])[] = [
      ['get listeners', list('Listener')],
      ['get destinations', list('Destination')],
      ['get routes', list('Route')],
      ['get groups', list('Group')],
      ['get middlewares', list('Middleware')],
      ['get route hello', one('Route')],
      ['snapshot list', list('SnapshotSummary')],
      ['history', list('Activation')],
      ['rollout list', list('Rollout')],
      ['rollout status', one('Rollout')],
      ['fleet list', one('Fleet')],
      ['cluster members list', list('Member')],
      ['explain /hello', one('Explanation')],
      ['diff active staged', one('EntityDifference')],
    ];
    for (const [args, schema] of expected) {
      const { stdout, stderr } = await viewer.run([...args.split(' '), '-o', 'json']);
      expect(stderr, args).to.equal('');
      expect(faults(schema, JSON.parse(stdout), schemas), args).to.deep.equal([]);
    }
  });

  it('a viewer reads and changes nothing, an editor administers nothing, and each refusal is exit code 4', async () => {
    viewer.write('one.yaml', 'destinations:\n  - { name: theirs, host: a.internal, port: 1 }\n');
    const [{ id }] = JSON.parse(await viewer.output('snapshot', 'list', '-o', 'json')) as [{ id: string }];
    const refused: readonly (readonly [client: Client, args: readonly string[]])[] = [
      [viewer, ['apply', '-f', 'one.yaml']],
      [viewer, ['set', 'destinations/d1', 'port=1']],
      [viewer, ['delete', 'group', 'all']],
      [viewer, ['snapshot', 'create', 'x']],
      [viewer, ['rollback']],
      [viewer, ['activate', id]],
      [viewer, ['rollout', 'start', id]],
      [viewer, ['snapshot', 'delete', id, '--yes']],
      [viewer, ['secret', 'set', 'password', '-f', 'one.yaml']],
      [viewer, ['secret', 'rotate', 'token', '-f', 'one.yaml']],
      [viewer, ['cluster', 'transfer']],
      [viewer, ['backup', '-o', 'x.backup']],
      [viewer, ['log-level', 'raft=debug']],
      [editor, ['backup', '-o', 'x.backup']],
      [editor, ['cluster', 'transfer']],
      [editor, ['log-level', 'raft=debug']],
    ];
    for (const [client, args] of refused) {
      const { code, stderr } = await client.run(args);
      expect(code, args.join(' ')).to.equal(4);
      expect(stderr, args.join(' ')).to.contain('may not');
    }
    expect(await viewer.output('get', 'destination', 'd1', '-o', 'cel=item.port')).to.equal('9001\n');
    expect((await viewer.run(['diff', '-f', 'one.yaml'])).code).to.equal(3);
  });

  it('edits of one resource carry If-Match, show what they change, and can be taken back', async () => {
    expect(await editor.output('set', 'routes/hello', 'directResponse.status=201')).to.equal(
      'routes/hello            ~ /directResponse/status   200 → 201\n',
    );
    const { stdout, code } = await editor.run(['diff', 'active', 'staged']);
    expect(code).to.equal(3);
    expect(stdout).to.contain('routes/hello');
    const compared = await editor.run(['explain', '/hello', '--compare', 'staged']);
    expect(compared.code).to.equal(3);
    expect(compared.stdout).to.contain('answers 201 itself');
    editor.write('editor.sh', '#!/bin/sh\nsed -i "s/status: 201/status: 200/" "$1"\n');
    const edited = new Client({
      servers: [follower.url],
      apiKey: keys.editor,
      env: { VISUAL: `sh ${join(editor.folder, 'editor.sh')}` },
    });
    expect(await edited.output('edit', 'route', 'hello')).to.equal('changed   routes/hello\n');
    expect(await edited.output('edit', 'route', 'hello')).to.equal('no change\n');
  });

  it('what others refer to is deleted with them alone, after a question', async () => {
    const kept = await editor.run(['delete', 'destination', 'd5']);
    expect(kept.code).to.equal(1);
    expect(kept.stderr).to.contain('routes/r5 refers to it');
    expect((await editor.run(['delete', 'destination', 'd5', '--cascade'])).code).to.equal(2);
    expect(await editor.output('delete', 'destination', 'd5', '--cascade', '--yes')).to.equal(
      'deleted   destinations/d5\ndeleted   routes/r5\n',
    );
    expect(await editor.output('describe', 'destination', 'd4')).to.contain('referred to by routes/r4');
  });

  it('an activation that is confirmed stays, and history says who made it', async () => {
    await editor.output('snapshot', 'create', 'v7');
    expect(
      await editor.output('activate', 'v7', '--confirm', '5m', '--wait', 'all', '--comment', 'why not'),
    ).to.contain('sluice confirm');
    expect(await viewer.output('status')).to.contain('not confirmed');
    expect((await viewer.run(['cluster', 'doctor'])).code).to.equal(1);
    expect(await editor.output('confirm')).to.equal('confirmed "v7" stays live\n');
    expect(await viewer.output('history', '--limit', '1')).to.match(/v7 +activated +editor +why not/);
    expect((await editor.run(['snapshot', 'delete', 'v7'])).code).to.equal(4);
  });

  it('a rollout that is aborted ends its watch with 6', async () => {
    await editor.output('snapshot', 'create', 'v8');
    expect(await editor.output('rollout', 'start', 'v8', '--steps', '1:1h,100')).to.contain('has begun');
    expect(await editor.output('rollout', 'pause')).to.contain('is paused at 1 %');
    expect(await editor.output('rollout', 'resume')).to.contain('is running');
    const watch = editor.run(['rollout', 'watch']);
    await editor.output('rollout', 'abort');
    const { code, stderr } = await watch;
    expect(code).to.equal(6);
    expect(stderr).to.contain('was aborted');
    expect((await viewer.run(['rollout', 'status'])).stdout).to.contain('aborted');
  });

  it('requests are followed, filtered, and counted by route', async () => {
    const tail = viewer.run(['requests', 'tail', '--route', 'hello', '--limit', '1', '-o', 'json']);
    const traffic = new Traffic(answerOf);
    const { stdout } = await tail;
    await traffic.end();
    expect(JSON.parse(stdout)).to.include({ route: 'hello', method: 'GET', path: '/hello' });
    await eventually(async () => expect(await viewer.output('requests', 'top')).to.match(/^hello +\d+/m));
  });

  it('the administration of nodes goes through any of them', async () => {
    expect(await admin.output('log-level', 'raft=debug')).to.contain('raft=debug');
    expect(await admin.output('log-level', 'info')).to.contain('raft=info');
    const { nodeId } = await cluster.leader();
    expect(await admin.output('cluster', 'transfer')).to.match(/^\w leads\n$/);
    expect((await cluster.leader()).nodeId).to.not.equal(nodeId);
    await admin.output('backup', '-o', 'whole.backup');
    expect(readFileSync(join(admin.folder, 'whole.backup')).length).to.be.above(1000);
    expect((await admin.run(['backup', '-o', 'whole.backup'])).code).to.equal(1);
    expect(await admin.output('secret', 'list')).to.contain('{{secret:value:token}}');
    expect((await admin.run(['secret', 'delete', 'token'])).stderr).to.contain('refer to it');
    expect((await admin.run(['secret', 'rotate', 'token'], 'new\n')).stdout).to.contain('used by   middlewares/m1');
    expect(await viewer.output('fleet', 'lag', '-o', 'json')).to.equal('[]\n');
    expect(await viewer.output('fleet', 'describe', follower.nodeId)).to.contain('state: current');
    expect(await viewer.output('cluster', 'members', 'list', '-o', 'name')).to.equal('a\nb\nc\n');
    const wrong = new Client({ servers: [follower.url], apiKey: 'wrong' });
    expect((await wrong.run(['get', 'routes'])).code).to.equal(4);
  });

  it('a context holds servers and key in a file for its owner alone', async () => {
    const fresh = new Client({ servers: [], env: { SLUICE_API_KEY: keys.viewer, SLUICE_SERVER: '' } });
    expect(await fresh.output('login', 'prod', '--server', follower.url)).to.equal(
      'context   prod: viewer, role viewer\n',
    );
    const file = join(fresh.folder, 'config/sluice/contexts.yaml');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const kept = new Client({ servers: [], env: { XDG_CONFIG_HOME: join(fresh.folder, 'config'), SLUICE_SERVER: '' } });
    expect(await kept.output('get', 'groups', '-o', 'name')).to.equal('groups/all\n');
    chmodSync(file, 0o644);
    const { code, stderr } = await kept.run(['get', 'groups']);
    expect(code).to.equal(1);
    expect(stderr).to.contain('chmod 600');
  });

  it('another node is asked where one is away, and no quorum is exit code 5', async () => {
    const [first, second] = (await cluster.followers()) as [ClusterNode, ClusterNode];
    await first.stop('SIGKILL');
    const both = new Client({ servers: [first.url, second.url], apiKey: keys.editor });
    expect(await both.output('set', 'routes/hello', 'directResponse.status=202')).to.contain('→ 202');
    const alone = await new Client({ servers: [first.url], apiKey: keys.editor }).run(['get', 'routes']);
    expect(alone.code).to.equal(5);
    expect(alone.stderr).to.match(/^sluice: no server can be reached: http:\/\/127\.0\.0\.1:\d+: /);
    await (await cluster.leader()).stop('SIGKILL');
    const { code, stderr } = await both.run(['set', 'routes/hello', 'directResponse.status=203']);
    expect(code).to.equal(5);
    expect(stderr).to.match(/no leader|no quorum|503/);
  });
});
