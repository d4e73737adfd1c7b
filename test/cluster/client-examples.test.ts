// Every example that the commands of the client give (docs/cli.md), run by a shell against a cluster through a follower;
// and the commands about nodes and contexts, with keys of each role.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { clientCommands } from '../../src/command-line/commands.ts';
import { Client, type ClientResult } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type ClusterNode, NodeCluster } from '../support/node-cluster.ts';
import { faults, type Schema, type Schemas } from '../support/openapi-schema.ts';
import { endOf, program, spawnCommand } from '../support/sluice-process.ts';

const roles = ['admin', 'editor', 'viewer'] as const;
const controlPlane = `  auth: { apiKeys: [${roles.map((role) => `{ name: ${role}, key: ${role}-key, role: ${role} }`).join(', ')}] }
  encryption: { key: "${Buffer.alloc(32, 7).toString('base64')}" }
`;

interface Run {
  readonly line: string;
  /** Line that stands for it here: other files, and no longer than a test may wait. */
  readonly as?: string;
  readonly code?: number;
  /** Part of what it prints. */
  readonly prints?: string;
}

describe('examples of the command line', function () {
  this.timeout(180_000);
  let cluster: NodeCluster;
  let follower: ClusterNode;
  let client: Client;

  const as = (role: (typeof roles)[number]) => new Client({ servers: [follower.url], apiKey: `${role}-key` });

  before(async () => {
    const nodeIds = ['a', 'b', 'c', 'd'];
    cluster = await NodeCluster.prepare({
      ...{ nodeIds, founders: ['a', 'b', 'c'], autoJoin: 'none', controlPlane },
      caller: { key: 'admin-key' },
    });
    await Promise.all(['a', 'b', 'c'].map((id) => cluster.node(id).start()));
    [follower] = (await cluster.followers()) as [ClusterNode];
    client = as('admin');
    client.write('bin/sluice', `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`);
    client.write(
      'conf/shop.yaml',
      `owner: team-shop
listeners:
  - { name: web, port: ${await freePort()} }
destinations:
  - { name: cart, host: 127.0.0.1, port: ${await freePort()} }
routes:
  - { name: shop, match: { pathPrefix: /cart }, forward: { destinations: [{ destinationId: cart }] } }
  - { name: old-cart, match: { path: /old }, directResponse: { status: 410 } }
`,
    );
    client.write('bin/pass', '#!/bin/sh\necho hunter2\n');
    client.write('cases.yaml', 'cases:\n  - { name: cart, request: { url: /cart }, expect: { route: shop } }\n');
    client.write('settings.yaml', 'controlPlane: { storePath: ./data }\n');
    client.write('nginx.conf', 'http { server { listen 8080; location / { return 204; } } }\n');
  });

  after(() => cluster?.stop());

  const shell = async (line: string): Promise<ClientResult> => {
    const env = {
      ...client.env,
      ...{ PATH: `${join(client.folder, 'bin')}:${process.env.PATH}`, HOME: client.folder, VISUAL: 'true' },
    };
    return await endOf(spawnCommand(['bash', '-c', `cd ${client.folder} && chmod +x bin/* && ${line}`], env));
  };

  const runs: readonly Run[] = [
    { line: 'sluice apply -f conf/ --dry-run', code: 3, prints: 'routes/shop ' },
    { line: 'sluice diff -f conf/', code: 3, prints: '4 to create, 0 to change, 0 to delete' },
    { line: 'sluice apply -f conf/', prints: 'staged    4 changes in one batch' },
    {
      line: 'sluice apply -f conf/ --owner team-shop --prune --activate --rollout 1,10,100 --wait all',
      // Steps of a rollout need traffic: client.test.ts has them.
      as: 'sluice apply -f conf/ --owner team-shop --prune --activate --wait all',
      prints: 'done      live everywhere',
    },
    { line: 'sluice diff active staged', prints: 'no difference' },
    { line: 'sluice set routes/shop forward.timeouts.request=5s', prints: '"5s"' },
    { line: 'sluice explain /cart --compare staged', prints: 'the same by staged' },
    { line: 'sluice diff --replay', code: 3, prints: 'routes/shop' },
    { line: 'sluice set routes/shop forward.timeouts-', prints: 'routes/shop' },
    { line: 'sluice export > backup.yaml' },
    {
      line: 'sluice export --owner team-shop --split conf',
      as: 'sluice export --owner team-shop --split split && ls split',
      prints: 'routes',
    },
    { line: 'sluice get routes', prints: 'old-cart' },
    { line: 'sluice get routes shop -o yaml', prints: 'pathPrefix: /cart' },
    { line: 'sluice get listeners -o cel=item.port' },
    { line: 'sluice describe destination cart', prints: 'referred to by routes/shop' },
    { line: 'sluice edit route shop', prints: 'no change' },
    { line: 'sluice delete route old-cart', prints: 'deleted   routes/old-cart' },
    { line: 'sluice snapshot create v7', prints: 'v7' },
    { line: 'sluice activate v7 --wait all', prints: 'live everywhere' },
    { line: 'sluice activate v7 --confirm 5m', prints: 'sluice confirm' },
    { line: 'sluice rollback', prints: 'again' },
    { line: 'sluice history --at 2h' },
    {
      line: 'sluice rollout start v7 --steps 1,10,100 --wait',
      as: 'sluice rollout start v7 --steps 1,10,100 && sluice rollout promote && sluice rollout abort',
      prints: 'has begun',
    },
    {
      line: 'sluice rollout start v7 --shadow 5m --wait',
      as: 'sluice rollout start v7 --shadow 5m && sluice rollout abort',
      prints: 'has begun',
    },
    { line: "sluice explain http://shop.example/cart -X POST -H 'x-tenant: a'", prints: 'shop' },
    { line: 'sluice blame --url http://shop.example/cart' },
    {
      line: 'sluice requests tail --status 5xx',
      as: 'timeout --preserve-status -s INT 2 sluice requests tail --status 5xx',
      code: 130,
    },
    { line: 'sluice requests mismatches --route shop' },
    { line: 'sluice backup -o sluice.backup' },
    { line: 'pass show shop/tls | sluice secret set shop-tls', prints: '{{secret:value:shop-tls}}' },
    {
      line: 'sluice log-level raft=debug --for 10m',
      as: 'sluice log-level raft=debug --for 200ms',
      prints: 'set back',
    },
    { line: 'sluice validate -f conf/', prints: 'no fault' },
    { line: 'sluice validate --config /etc/sluice/config.yaml', as: 'sluice validate --config settings.yaml' },
    { line: 'sluice lint -f conf/ --fail-on warning' },
    { line: 'sluice test cases.yaml -f conf/', prints: '1 case, 0 failed' },
    {
      line: 'sluice import nginx /etc/nginx/nginx.conf --out conf',
      as: 'sluice import nginx nginx.conf --out imported',
    },
    {
      line: 'sluice test conf/cases.yaml -f conf/resources.yaml',
      as: 'sluice test imported/cases.yaml -f imported/resources.yaml',
      prints: '0 failed',
    },
    {
      line: "sluice context set prod --server https://node-1:8080 --key-command 'pass show sluice'",
      prints: 'context   prod in ',
    },
    {
      line: 'sluice login prod --server https://node-1:8080',
      as: 'sluice login prod --server $SLUICE_SERVER',
      prints: 'context   prod: admin, role admin',
    },
    {
      line: 'sluice dashboard --open',
      as: 'BROWSER=echo sluice dashboard --open && curl -fsSo /dev/null $(sluice dashboard)',
      prints: '/ui/',
    },
    {
      line: 'source <(sluice completion bash)',
      as: 'source <(sluice completion bash) && complete -p sluice',
      prints: 'sluice',
    },
    {
      line: 'sluice completion fish > ~/.config/fish/completions/sluice.fish',
      as: 'mkdir -p ~/.config/fish/completions && sluice completion fish > ~/.config/fish/completions/sluice.fish',
    },
  ];

  it('are all run here', async () => {
    const given = (await clientCommands()).flatMap(({ examples = [] }) => examples.map(({ line }) => line));
    expect(runs.map(({ line }) => line)).to.have.members(given);
  });

  for (const { line, as: adapted = line, code = 0, prints = '' } of runs)
    it(`work: ${line}`, async () => {
      const { stdout, stderr, code: found } = await shell(adapted);
      expect({ code: found, stderr }, stdout).to.include({ code });
      expect(stdout).to.contain(prints);
    });

  it('show edits of others beside those of a file, and --if-staged refuses after any edit', async () => {
    client.write('pay/pay.yaml', 'owner: team-pay\ndestinations:\n  - { name: pay, host: pay.internal, port: 80 }\n');
    expect((await client.run(['apply', '-f', 'pay/', '--if-staged', '1'])).code).to.equal(4);
    await client.output('apply', '-f', 'pay/');
    const { stdout } = await client.run(['diff', '-f', 'conf/']);
    expect(stdout).to.match(/ · staged changes of others: 1 \(team-pay\), untouched\n$/);
  });

  it('have forms of JSON that the document of the API has', async () => {
    const response = await fetch(`${follower.url}/api/v1/docs/doc.json`);
    const { schemas } = ((await response.json()) as { components: { schemas: Schemas } }).components;
    const one = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
    const list = (name: string): Schema => ({ type: 'array', items: one(name) });
    const expected: readonly (readonly [args: string, schema: Schema])[] = [
      ['snapshot show v7', one('FullSnapshot')],
      ['snapshot create v8', one('SnapshotSummary')],
      ['log-level', one('LogLevels')],
      ['fleet describe a', one('FleetProxy')],
      ['secret list', list('SecretSummary')],
      ['get streamRoutes', list('StreamRoute')],
      ['get consumers', list('Consumer')],
      ['diff -f conf/', one('EntityDifference')],
    ];
    for (const [args, schema] of expected) {
      const { stdout, stderr } = await client.run([...args.split(' '), '-o', 'json']);
      expect(faults(schema, JSON.parse(stdout), schemas), `${args}: ${stderr}`).to.deep.equal([]);
    }
  });

  it('a node is taken in, votes, is removed and replaces another, by admins alone', async () => {
    const members = (...args: readonly string[]) => ['cluster', 'members', ...args];
    for (const role of ['editor', 'viewer'] as const)
      for (const args of [
        members('add', 'd', '127.0.0.1:1'),
        members('promote', 'd'),
        members('replace', 'a', 'd', '--yes'),
        members('remove', 'a', '--yes'),
      ]) {
        const { code, stderr } = await as(role).run(args);
        expect({ code, stderr }, `${role} ${args.join(' ')}`).to.deep.include({ code: 4 });
        expect(stderr).to.contain('may not');
      }
    const admin = client;
    /** Repeats the command until its effect is there: an answer may be lost, and what is done is refused again. */
    const until = async (
      args: readonly string[],
      says: string,
      isDone: (roles: ReadonlyMap<string, string>) => boolean,
    ) =>
      await eventually(async () => {
        const { code, stdout } = await admin.run(members(...args));
        if (code === 0) expect(stdout).to.equal(says);
        const list = JSON.parse(await admin.output(...members('list', '-o', 'json'))) as {
          nodeId: string;
          role: string;
        }[];
        expect(isDone(new Map(list.map(({ nodeId, role }) => [nodeId, role])))).to.equal(true);
      });
    const takeIn = async (node: ClusterNode) => {
      const started = node.start();
      const [, address = ''] = await eventually(async () => {
        const { stderr } = await admin.run(members('list'));
        const hint = new RegExp(`sluice cluster members add ${node.nodeId} (\\S+)`).exec(stderr);
        if (hint === null) throw new Error(`no hint: ${stderr}`);
        return hint;
      });
      const { nodeId } = node;
      const says = `${nodeId} follows · let it vote: sluice cluster members promote ${nodeId}\n`;
      await until(['add', nodeId, address], says, (roles) => roles.has(nodeId));
      await started;
    };
    const votes = (role: string | undefined) => role === 'voter' || role === 'leader';
    await takeIn(cluster.node('d'));
    await until(['promote', 'd'], 'd votes\n', (roles) => votes(roles.get('d')));
    const leader = await cluster.leader();
    const lost = cluster.nodes.find((node) => node !== leader && node !== follower && node.nodeId !== 'd')!;
    const { nodeId } = lost;
    expect((await admin.run(members('remove', nodeId))).code).to.equal(2);
    await lost.stop('SIGKILL');
    await until(['remove', nodeId, '--yes'], `${nodeId} is no member any more\n`, (roles) => !roles.has(nodeId));
    rmSync(lost.storePath, { recursive: true });
    await takeIn(lost);
    const replace = ['replace', 'd', nodeId, '--yes'];
    await until(replace, `${nodeId} votes in the place of d\n`, (roles) => votes(roles.get(nodeId)) && !roles.has('d'));
    expect((await admin.run(members('remove', 'nobody', '--yes'))).code).to.equal(4);
  });

  it('contexts are listed, chosen and deleted, and an unknown one is exit code 1', async () => {
    const own = new Client({ servers: [], env: { SLUICE_SERVER: '', SLUICE_API_KEY: 'viewer-key' } });
    await own.output('context', 'set', 'one', '--server', follower.url);
    await own.output('context', 'set', 'two', '--server', 'http://127.0.0.1:9');
    expect(await own.output('context', '-o', 'name')).to.equal('one\ntwo\n');
    expect(JSON.parse(await own.output('context', '-o', 'json'))[0]).to.deep.include({
      ...{ name: 'one', servers: [`${follower.url}/`] },
      current: true,
    });
    expect(await own.output('get', 'routes', '-o', 'name')).to.contain('routes/shop');
    expect(await own.output('context', 'use', 'two')).to.equal('context   two\n');
    expect((await own.run(['get', 'routes'])).code).to.equal(5);
    expect(await own.output('get', 'routes', '--context', 'one', '-o', 'name')).to.contain('routes/shop');
    for (const args of [
      ['context', 'use', 'three'],
      ['context', 'delete', 'three'],
      ['get', 'routes', '--context', 'three'],
    ]) {
      const { code, stderr } = await own.run(args);
      expect(code, args.join(' ')).to.equal(1);
      expect(stderr).to.contain('three');
    }
    expect(await own.output('context', 'delete', 'two')).to.equal('deleted   context two\n');
    expect(await own.output('context', '-o', 'name')).to.equal('one\n');
  });

  it('a guard of a rollout is told, and one that is no CEL is exit code 4', async () => {
    const bad = await as('editor').run(['rollout', 'start', 'v7', '--guard', 'candidate.errorRate <']);
    expect(bad.code).to.equal(4);
    expect(bad.stderr).to.contain('/guards/0');
    await as('editor').output('rollout', 'start', 'v7', '--steps', '1:1h,100', '--guard', 'candidate.errorRate < 0.01');
    expect(JSON.parse(await as('viewer').output('rollout', 'status', '-o', 'json'))).to.deep.include({
      guards: ['candidate.errorRate < 0.01'],
    });
    await as('editor').output('rollout', 'abort');
  });

  it('levels of the log are set back after their time, and at once by an interruption', async () => {
    const level = async () => (JSON.parse(await client.output('log-level', '-o', 'json')) as { level: string }).level;
    const before = await level();
    const child = client.start('log-level', 'error', '--for', '1h');
    const ended = endOf(child);
    await eventually(async () => expect(await level()).to.equal('error'));
    child.kill('SIGINT');
    expect((await ended).code).to.equal(130);
    expect(await level()).to.equal(before);
  });
});
