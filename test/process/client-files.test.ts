import { expect } from 'chai';
import { Client } from '../support/client.ts';
import { endOf, type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const conf = `owner: team-shop
listeners:
  - { name: web, address: 127.0.0.1, port: 18999 }
destinations:
  - name: pay
    host: pay.internal
    port: 8080
routes:
  - name: shop
    match: { pathPrefix: /shop }
    forward:
      destinations: [{ destinationId: pay }]
      timeouts: { request: 30s }
  - name: old-cart
    match: { pathPrefix: /cart }
    directResponse: { status: 404 }
`;

const next = `${conf
  .slice(0, conf.indexOf('  - name: old-cart'))
  .replace('30s', '5s')
  .replace('routes:', '  - { name: cart-v2, host: cart.internal, port: 80 }\nroutes:')}`;

describe('files of the command line', () => {
  let sluice: SluiceProcess;
  let client: Client;

  before(async () => {
    sluice = await startSluice();
    client = new Client({ servers: [sluice.url] });
  });

  after(() => sluice?.stop());

  it('apply stages a folder in one batch, and says no change when it is the same', async () => {
    client.write('conf/all.yaml', conf);
    expect(await client.output('apply', '-f', 'conf/')).to.match(/^staged {4}4 changes in one batch \(index \d+\)\n$/);
    expect(await client.output('apply', '-f', 'conf/')).to.equal('no change\n');
    expect((await client.output('get', 'routes', '-o', 'name')).split('\n')).to.have.members([
      'routes/shop',
      'routes/old-cart',
      '',
    ]);
  });

  it('diff shows fields old → new, creations and what is absent, and exits with 3', async () => {
    client.write('conf/all.yaml', next);
    const { stdout, code } = await client.run(['diff', '-f', 'conf/']);
    expect(stdout).to.equal(
      'destinations/cart-v2    + created\n' +
        'routes/shop             ~ /forward/timeouts/request   "30s" → "5s"\n' +
        'routes/old-cart         - deleted (owner team-shop, absent from conf/)\n' +
        '1 to create, 1 to change, 1 to delete\n',
    );
    expect(code).to.equal(3);
  });

  it('prune asks, refuses more than its share, and deletes in the same batch', async () => {
    const unasked = await client.run(['apply', '-f', 'conf/', '--prune', '--prune-max', '100%']);
    expect(unasked.code).to.equal(2);
    expect(unasked.stderr).to.contain('routes/old-cart').and.to.contain('--yes');
    const tooMany = await client.run(['apply', '-f', 'conf/', '--prune', '--yes']);
    expect(tooMany.code).to.equal(1);
    expect(tooMany.stderr).to.contain(
      '--prune would delete 1 of 4 resources, more than --prune-max 20%; nothing was staged',
    );
    expect((await client.run(['diff', '-f', 'conf/'])).code).to.equal(3);
    await client.output('apply', '-f', 'conf/', '--prune', '--prune-max', '50%', '--yes');
    expect((await client.run(['diff', '-f', 'conf/'])).code).to.equal(0);
    expect(await client.output('get', 'routes', '-o', 'name')).to.equal('routes/shop\n');
  });

  it('prune without an owner is wrong usage', async () => {
    client.write('ownerless.yaml', 'routes: []\n');
    const { code, stderr } = await client.run(['apply', '-f', 'ownerless.yaml', '--prune', '--yes']);
    expect(code).to.equal(2);
    expect(stderr).to.contain('--owner');
  });

  it('a resource of another owner is refused by name, unless it is adopted', async () => {
    client.write('theirs.yaml', 'owner: team-pay\nroutes:\n  - name: shop\n    directResponse: { status: 204 }\n');
    const { code, stderr } = await client.run(['apply', '-f', 'theirs.yaml']);
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      'refused: 1 fault, nothing was staged\ntheirs.yaml:3:5  routes/shop  is owned by team-shop: --adopt takes it over\n',
    );
    expect((await client.run(['apply', '-f', 'theirs.yaml', '--adopt', '--dry-run'])).code).to.equal(3);
  });

  it('faults have their places, and the nearest name of an unknown reference', async () => {
    client.write(
      'bad.yaml',
      `destinations:
  - name: pay
    host: pay.internal
    port: 8080





routes:
  - name: shop
    match:
      path: /a
      pathRegex: b
    directResponse:
      status: 200










  - name: pay
    forward:

      destinations:
      - destinationId: payy
`,
    );
    const { code, stderr, stdout } = await client.run(['apply', '-f', 'bad.yaml']);
    expect(stdout).to.equal('');
    expect(stderr).to.equal(
      'refused: 2 faults, nothing was staged\n' +
        'bad.yaml:14:7  routes/shop  /match/pathRegex must not stand beside path\n' +
        'bad.yaml:31:9  routes/pay   /forward/destinations/0/destinationId "payy" is not a destination (did you mean "pay"?)\n',
    );
    expect(code).to.equal(1);
  });

  it('what export prints is no difference', async () => {
    client.write('exported.yaml', await client.output('export'));
    expect(await client.output('diff', '-f', 'exported.yaml')).to.equal('no difference\n');
    client.write('exported.json', await client.output('export', '-o', 'json'));
    expect(await client.output('apply', '-f', 'exported.json')).to.equal('no change\n');
  });

  it('values of secrets are written, never shown, and no change the second time', async () => {
    const text = (value: string) => `owner: team-keys\nsecrets:\n  - { name: token, value: ${value} }\n`;
    client.write('keys.yaml', text('CANARY-one'));
    await client.output('apply', '-f', 'keys.yaml');
    expect(await client.output('apply', '-f', 'keys.yaml')).to.equal('no change\n');
    client.write('keys.yaml', text('CANARY-two'));
    for (const form of ['table', 'json', 'yaml']) {
      const { stdout, stderr, code } = await client.run(['diff', '-f', 'keys.yaml', '-o', form, '-v']);
      expect(stdout + stderr)
        .to.contain('token')
        .and.to.not.contain('CANARY');
      expect(code).to.equal(3);
    }
    const applied = await client.run(['apply', '-f', 'keys.yaml', '-v']);
    expect(applied.stdout).to.contain('1 change');
    expect(applied.stdout + applied.stderr).to.not.contain('CANARY');
    expect(await client.output('export')).to.not.contain('CANARY');
    expect((await client.run(['diff', '-f', 'keys.yaml'])).code).to.equal(0);
  });

  it('an apply that is killed at any moment leaves all of it or nothing', async () => {
    const numbers = Array.from({ length: 400 }, (_, n) => n);
    const staged = async () => {
      const all = JSON.parse(await client.output('get', 'destinations', '--owner', 'killed', '-o', 'json')) as {
        port: number;
      }[];
      return { count: all.length, ports: [...new Set(all.map(({ port }) => port))] };
    };
    for (let port = 1; port <= 8; port++) {
      const list = numbers.map((n) => `  - { name: killed-${n}, host: a.internal, port: ${port} }`);
      client.write('killed.yaml', `owner: killed\ndestinations:\n${list.join('\n')}\n`);
      const child = client.start('apply', '-f', 'killed.yaml');
      const ended = endOf(child);
      // From before its first request to after its last one.
      const timer = setTimeout(() => child.kill('SIGKILL'), port * 90);
      await ended;
      clearTimeout(timer);
      const { count, ports } = await staged();
      expect(count).to.be.oneOf([0, numbers.length]);
      expect(ports).to.have.length.at.most(1);
    }
    await client.output('apply', '-f', 'killed.yaml');
    expect(await staged()).to.deep.equal({ count: numbers.length, ports: [8] });
  });

  it('variables fill scalars, and one that is unset is a fault with its place', async () => {
    client.write(
      'vars.yaml',
      'destinations:\n  - name: $(NAME)\n    host: $$(x)-$(NAME).internal\n    port: $(PORT)\n',
    );
    const unset = await client.run(['validate', '-f', 'vars.yaml', '--var', 'NAME=a']);
    expect(unset.code).to.equal(1);
    expect(unset.stdout).to.match(/^vars\.yaml:4:5 +the variable PORT is not set/m);
    client.write('host.yaml', 'destinations:\n  - name: d-$(NAME)\n    host: $(NAME).internal\n    port: $(PORT)\n');
    await client.output('apply', '-f', 'host.yaml', '--var', 'NAME=a', '--var', 'PORT=8080');
    expect(JSON.parse(await client.output('get', 'destinations', 'd-a', '-o', 'json'))).to.deep.equal({
      id: 'd-a',
      name: 'd-a',
      host: 'a.internal',
      port: 8080,
    });
  });
});
