// Standard output and error of the client: readers that go away, disks that are full, terminals that are closed.
import { expect } from 'chai';
import { Client, type ClientResult } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/needs.ts';
import { endOf, program, spawnCommand } from '../support/sluice-process.ts';
import { answer, closeStubs, levelStub, stub } from '../support/stub-server.ts';

const broken = 'routes:\n  - { name: a, nowhere: 1 }\n';

/** Runs a line of bash, in which `sluice` is the client. */
async function shell(client: Client, line: string): Promise<ClientResult> {
  const sluice = `sluice() { ${program.map((word) => `'${word}'`).join(' ')} "$@"; }`;
  return await endOf(spawnCommand(['bash', '-c', `cd '${client.folder}'; ${sluice}; ${line}`], client.env));
}

describe('output of the client', () => {
  afterEach(closeStubs);

  it('that is no longer read leaves the exit code of a check as it is', async () => {
    const client = new Client({ servers: [] });
    client.write('bad.yaml', broken);
    for (const pipe of ['| true', '2>&1 | true', '-o json | true', '2> >(true) | true']) {
      const { stdout, stderr } = await shell(client, `sluice validate -f bad.yaml ${pipe}; echo "\${PIPESTATUS[0]}"`);
      expect({ stdout, stderr }, pipe).to.deep.equal({ stdout: '1\n', stderr: '' });
    }
  });

  it('that is no longer read ends a command that follows requests, without a word', async () => {
    const server = await stub((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => response.write('event: request\ndata: {"status":200}\n\n'), 20);
      response.once('close', () => clearInterval(timer));
    });
    const line = 'sluice requests tail -o json | head -1; echo "${PIPESTATUS[0]}"';
    const { stdout, stderr } = await shell(new Client({ servers: [server] }), line);
    expect({ stdout, stderr }).to.deep.equal({ stdout: '{"status":200}\n0\n', stderr: '' });
  });

  it('that is no longer read does not keep a level of the log from being set back', async () => {
    const levels: string[] = [];
    const server = await levelStub(levels);
    const line = 'sluice log-level error --for 1s | true; echo "${PIPESTATUS[0]}"';
    expect((await shell(new Client({ servers: [server, server] }), line)).stdout).to.equal('0\n');
    expect(levels).to.deep.equal(['error', 'error', 'info', 'info']);
  });

  it('that cannot be written is a failure of one line', async () => {
    const client = new Client({ servers: [await stub(answer([]))] });
    for (const command of ['get routes -o json', 'help', 'version']) {
      const { code, stderr } = await shell(client, `sluice ${command} > /dev/full`);
      expect(stderr, command).to.match(/^sluice: the output could not be written: ENOSPC[^\n]*\n$/);
      expect(code, command).to.equal(1);
    }
  });

  it('of the program itself that is no longer read is no failure', async () => {
    const line = 'sluice version | true; echo "${PIPESTATUS[0]}"';
    expect(await shell(new Client({ servers: [] }), line)).to.deep.equal({ stdout: '0\n', stderr: '', code: 0 });
  });

  it('a terminal that is closed ends a level of the log that is set for a time', async () => {
    const levels: string[] = [];
    const server = await levelStub(levels, () => levels.length === 1 && child.kill('SIGHUP'));
    const child = new Client({ servers: [server] }).start('log-level', 'error', '--for', '1h');
    await endOf(child);
    expect(levels).to.deep.equal(['error', 'info']);
  });

  it('says on a terminal what a command waits for', async function () {
    needs(this, 'script');
    const asked = Promise.withResolvers<() => void>();
    const slow = await stub((request, response) => asked.resolve(() => answer([])(request, response)));
    const line = [...program, 'get', 'routes', '--server', slow].map((word) => `'${word}'`).join(' ');
    const child = spawnCommand(['script', '-qefc', line, '/dev/null'], new Client({ servers: [] }).env);
    let shown = '';
    child.stdout?.on('data', (part) => {
      shown += part;
    });
    const ended = endOf(child);
    const release = await asked.promise;
    await eventually(() => expect(shown).to.equal(`waiting for ${slow}\r\n`));
    release();
    expect((await ended).code).to.equal(0);
    expect(shown).to.contain('no routes');
  });

  it('help of a word that is no command is wrong usage, and names the nearest', async () => {
    const client = new Client({ servers: [] });
    for (const args of [
      ['help', 'aply'],
      ['aply', '--help'],
    ]) {
      const { code, stdout, stderr } = await client.run(args);
      expect({ code, stdout, stderr }).to.deep.equal({
        ...{ code: 2, stdout: '' },
        stderr: 'sluice: unknown command "aply" (did you mean apply?); sluice help lists all\n',
      });
    }
    for (const args of [['help'], ['--help'], ['help', 'snapshot'], ['-v', 'get', '--help']])
      expect((await client.run(args)).stdout, args.join(' ')).to.match(/^Usage: sluice /);
  });

  it('of words that begin commands names the further ones, and that of a later word the whole command', async () => {
    const client = new Client({ servers: [] });
    for (const [args, told] of [
      [['cluster', 'members'], 'sluice cluster members needs a further word: list, add, promote, replace, remove'],
      [['snapshot'], 'sluice snapshot needs a further word: create, list, show, delete'],
      [['members'], 'unknown command "members" (did you mean cluster members?); sluice help lists all'],
      [['rollout', 'strat'], 'unknown command "strat" (did you mean start?); sluice help lists all'],
    ] as const) {
      const { code, stderr } = await client.run(args);
      expect({ code, stderr }).to.deep.equal({ code: 2, stderr: `sluice: ${told}\n` });
    }
  });
});
