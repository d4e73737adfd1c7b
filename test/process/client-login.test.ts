// Logins and contexts: keys that are asked for, servers that are known.
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/needs.ts';
import { endOf, program, spawnCommand } from '../support/sluice-process.ts';
import { answer, closeStubs, stub } from '../support/stub-server.ts';

const whoAmI = { name: 'ops', role: 'admin' };

const contextsOf = (client: Client) => {
  const file = join(client.folder, 'config/sluice/contexts.yaml');
  expect(statSync(file).mode & 0o777).to.equal(0o600);
  return JSON.parse(readFileSync(file, 'utf8'));
};

/** Module for `--require` that writes beside itself whether the terminal still shows what is typed as the key is asked for. */
const tellsEcho = `const write = process.stderr.write;
process.stderr.write = function (text, ...rest) {
  const echo = process.stdin.isRaw ? 'off' : 'on';
  if (text.startsWith('API key')) require('node:fs').writeFileSync(__dirname + '/echo', echo);
  return write.call(this, text, ...rest);
};
`;

describe('login of the client', () => {
  afterEach(closeStubs);

  it('does not show the key that is typed, and stores it', async function () {
    needs(this, 'script');
    const server = await stub(answer(whoAmI));
    const client = new Client({ servers: [] });
    const env = { ...client.env, TERM: 'xterm', NODE_OPTIONS: `--require ${client.write('echo.cjs', tellsEcho)}` };
    const line = [...program, 'login', 'prod', '--server', server].map((word) => `'${word}'`).join(' ');
    const child = spawnCommand(['script', '-qefc', line, '/dev/null'], env, 'pipe');
    let shown = '';
    child.stdout?.on('data', (part) => {
      shown += part;
    });
    const ended = endOf(child);
    await eventually(() => expect(shown).to.contain('API key (empty for none): '));
    child.stdin?.write('hunter2\r');
    const { code } = await ended;
    expect(shown).to.contain('prod: ops, role admin').and.to.not.contain('hunter2');
    expect(code).to.equal(0);
    expect(readFileSync(join(client.folder, 'echo'), 'utf8'), 'echo of the terminal').to.equal('off');
    expect(contextsOf(client).contexts[0]).to.deep.equal({ name: 'prod', servers: [`${server}/`], apiKey: 'hunter2' });
  });

  it('to a context that is there asks its servers, and keeps them and its certificates', async () => {
    const servers = [await stub(answer(whoAmI)), await stub(answer(whoAmI))];
    const client = new Client({ servers: [], env: { SLUICE_API_KEY: 'first' } });
    client.write('ca.pem', '');
    await client.output('login', 'prod', '--server', `${servers}`, '--ca', 'ca.pem');
    const again = new Client({ servers: [], env: { ...client.env, SLUICE_API_KEY: 'second' } });
    again.write('ca.pem', '');
    await again.output('login', 'prod');
    expect(contextsOf(client)).to.deep.equal({
      current: 'prod',
      contexts: [{ name: 'prod', servers: servers.map((url) => `${url}/`), ca: 'ca.pem', apiKey: 'second' }],
    });
  });

  it('takes the servers of the environment one by one', async () => {
    const servers = [await stub(answer(whoAmI)), await stub(answer(whoAmI))];
    const client = new Client({ servers });
    await client.output('login');
    expect(contextsOf(client).contexts[0].servers).to.deep.equal(servers.map((url) => `${url}/`));
  });

  it('a command for the key that fails is told with what it printed', async () => {
    const client = new Client({ servers: [] });
    await client.output(
      'context',
      'set',
      'prod',
      '--server',
      'http://127.0.0.1:1',
      '--key-command',
      'echo no agent >&2; exit 2',
    );
    const { code, stderr } = await client.run(['get', 'routes']);
    expect(stderr).to.equal('sluice: keyCommand of context prod failed: no agent (exit code 2)\n');
    expect(code).to.equal(1);
  });

  it('an interruption comes through while a command for the key runs', async () => {
    const client = new Client({ servers: [] });
    const slow = 'touch open; while [ ! -e close ]; do sleep 0.05; done';
    await client.output('context', 'set', 'prod', '--server', 'http://127.0.0.1:1', '--key-command', slow);
    const child = client.start('get', 'routes');
    const ended = endOf(child);
    await eventually(() => expect(existsSync(join(client.folder, 'open'))).to.equal(true));
    child.kill('SIGINT');
    await once(child, 'exit');
    client.write('close', '');
    expect((await ended).code).to.equal(130);
  });
});
