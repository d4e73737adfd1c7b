// Inputs of the client: folders with links, folders without files, and standard input.
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { endOf } from '../support/sluice-process.ts';
import { answer, closeStubs, stub } from '../support/stub-server.ts';

const route = (name: string) => `routes:\n  - { name: ${name}, directResponse: { status: 200 } }\n`;

/** Descriptors that the event loop of a process waits for. */
function polledBy(pid: number | undefined): string[] {
  const folder = `/proc/${pid}/fdinfo`;
  const infos = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  return infos.flatMap((text) => [...text.matchAll(/^tfd: +(\d+)/gm)].map(([, descriptor = '']) => descriptor));
}

describe('inputs of the client', () => {
  afterEach(closeStubs);

  it('folder has what a linked folder has, and a link to a folder above is refused', async () => {
    const client = new Client({ servers: [] });
    client.write('shared/b.yaml', route('b'));
    client.write('conf/a.yaml', route('a'));
    symlinkSync('../shared', join(client.folder, 'conf/linked'));
    // The route of the linked folder is there, for its name is taken.
    client.write('conf/c.yaml', route('b'));
    const { stdout } = await client.run(['validate', '-f', 'conf']);
    expect(stdout).to.match(/^conf\/linked\/b\.yaml:2:5 +routes\/b +is there already at conf\/c\.yaml:2:5\n/);
    symlinkSync('..', join(client.folder, 'conf/above'));
    const { code, stderr } = await client.run(['validate', '-f', 'conf']);
    expect(stderr).to.equal('sluice: conf/above/conf is a link to a folder that it is in\n');
    expect(code).to.equal(1);
  });

  it('folder without a file is a failure, not an input without a fault', async () => {
    const client = new Client({ servers: [] });
    mkdirSync(join(client.folder, 'conf/empty'), { recursive: true });
    client.write('conf/notes.txt', 'no resources\n');
    const { code, stdout, stderr } = await client.run(['validate', '-f', 'conf']);
    expect({ code, stdout, stderr }).to.deep.equal({
      ...{ code: 1, stdout: '' },
      stderr: 'sluice: conf has no file *.yaml, *.yml or *.json\n',
    });
  });

  it('file that is empty, has comments alone, a mark of byte order or CRLF is read', async () => {
    const client = new Client({ servers: [] });
    const crlf = `\ufeff${route('\u6f22\u5b57')}`.replaceAll('\n', '\r\n');
    for (const text of ['', '# nothing\n', '---\n---\n', crlf]) {
      client.write('a.yaml', text);
      expect(await client.output('validate', '-f', 'a.yaml'), JSON.stringify(text)).to.equal('no fault\n');
    }
    client.write('a.yaml', `${crlf}\r\n  - { name: x }\r\n`);
    expect((await client.run(['validate', '-f', 'a.yaml'])).stdout).to.match(/^a\.yaml:4:5 +routes\/x /);
  });

  it('name that is no text, merged keys and a kind that is no word are told for what they are', async () => {
    const client = new Client({ servers: [] });
    const faults: readonly (readonly [text: string, told: RegExp])[] = [
      [
        'routes:\n  - { name: 404, directResponse: { status: 404 } }\n',
        /^a\.yaml:2:7 +routes +\/name must be a text: "404"$/m,
      ],
      [
        'routes:\n  - &a { name: a, directResponse: { status: 200 } }\n  - { <<: *a, name: b }\n',
        /^a\.yaml:3:7 +keys are not merged \(<<\), which YAML 1\.2 does not know: write them out$/m,
      ],
      ['kind: 7\nname: a\n', /^a\.yaml:1:1 +\/kind kind must be the name of a kind$/m],
    ];
    for (const [text, told] of faults) {
      client.write('a.yaml', text);
      expect((await client.run(['validate', '-f', 'a.yaml'])).stdout).to.match(told);
    }
  });

  it('standard input is read once, and an interruption can come while it is awaited', async () => {
    const client = new Client({ servers: [await stub(answer([]))] });
    const twice = await client.run(['apply', '-f', '-', '--api-key-file', '-'], route('a'));
    expect(twice.stderr).to.equal('sluice: standard input is named twice\n');
    expect(twice.code).to.equal(2);
    const child = client.start('apply', '-f', '-');
    const ended = endOf(child);
    await eventually(() => expect(polledBy(child.pid)).to.include('0'));
    child.kill('SIGINT');
    expect((await ended).code).to.equal(130);
  });
});
