// Edits of one resource: the editor and its text, fields that are set and removed.
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { endOf, type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const route = `routes:
  - name: shop
    match: { pathPrefix: /shop }
    middlewareIds: [a, b]
    directResponse: { status: 200 }
middlewares:
  - { name: a, type: cors, cors: {} }
  - { name: b, type: cors, cors: {} }
`;

describe('edits of one resource', () => {
  let sluice: SluiceProcess;
  let client: Client;

  before(async () => {
    sluice = await startSluice();
  });
  after(() => sluice?.stop());

  beforeEach(async () => {
    client = new Client({ servers: [sluice.url], env: { VISUAL: './editor' } });
    client.write('shop.yaml', route);
    await client.output('apply', '-f', 'shop.yaml');
  });

  const editor = (script: string) => chmodSync(client.write('editor', `#!/bin/sh\n${script}\n`), 0o700);
  const stored = async () => JSON.parse(await client.output('get', 'routes', 'shop', '-o', 'json'));

  it('keep the text that another change meanwhile refuses, and say where', async () => {
    editor(
      `sed -i s/200/201/ "$1"; curl -s -X PUT '${sluice.url}/api/v1/routes/shop' -d '{"name":"shop","directResponse":{"status":404}}' > /dev/null`,
    );
    const { code, stderr } = await client.run(['edit', 'route', 'shop']);
    const [, file = ''] =
      /^sluice: routes\/shop was changed by another client meanwhile; nothing was written\nthe text is kept in (\S+)\n$/.exec(
        stderr,
      ) ?? [];
    expect(readFileSync(file, 'utf8'), stderr).to.contain('status: 201');
    expect(code).to.equal(4);
    expect((await stored()).directResponse.status).to.equal(404);
  });

  it('open the editor again with a name that is taken as a fault', async () => {
    client.write('other.yaml', 'routes:\n  - { name: taken, directResponse: { status: 200 } }\n');
    await client.output('apply', '-f', 'other.yaml');
    editor('cp "$1" "seen$(ls | grep -c seen)"; sed -i "s/^name: shop/name: taken/" "$1"');
    const { code, stderr } = await client.run(['edit', 'route', 'shop']);
    expect(readFileSync(join(client.folder, 'seen1'), 'utf8')).to.match(/^#! .*taken.* exists already\n/);
    expect(stderr).to.match(/^sluice: nothing was written\n.*exists already\nthe text is kept in \S+\n$/);
    expect(code).to.equal(1);
  });

  it('leave Ctrl-C to the editor', async () => {
    editor('touch open; trap "" INT; while [ ! -e close ]; do sleep 0.05; done; sed -i s/200/202/ "$1"');
    const child = client.start('edit', 'route', 'shop');
    const ended = endOf(child);
    await eventually(() => expect(existsSync(join(client.folder, 'open'))).to.equal(true));
    child.kill('SIGINT');
    client.write('close', '');
    const { code, stderr, stdout } = await ended;
    expect({ code, stdout }, stderr).to.deep.equal({ code: 0, stdout: 'changed   routes/shop\n' });
    expect((await stored()).directResponse.status).to.equal(202);
  });

  it('write nothing when the editor fails', async () => {
    editor('exit 3');
    const { code, stderr } = await client.run(['edit', 'route', 'shop']);
    expect(stderr).to.equal('sluice: the editor ./editor failed: exit code 3; nothing was written\n');
    expect(code).to.equal(1);
  });

  it('remove the element of a list that is named, and refuse one that is not there', async () => {
    for (const place of ['x', '-1', '2', '01x'])
      expect((await client.run(['set', 'routes/shop', `middlewareIds.${place}-`])).stderr, place).to.equal(
        `sluice: ${place} is no place of a list of 2\n`,
      );
    expect((await stored()).middlewareIds).to.deep.equal(['a', 'b']);
    await client.output('set', 'routes/shop', '/middlewareIds/0-');
    expect((await stored()).middlewareIds).to.deep.equal(['b']);
  });

  it('remove a field within one that is not there without a change', async () => {
    expect(await client.output('set', 'routes/shop', 'forward.timeouts.request-')).to.equal('no change\n');
    expect(await stored()).to.not.have.property('forward');
  });
});
