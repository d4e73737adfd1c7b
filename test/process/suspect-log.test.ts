// A log that may have lost its last writes: a node alone has no peer to settle it with (raft.md A6).
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { launchSluice, newFolder, startSluice } from '../support/sluice-process.ts';

describe('a node of one whose log is suspect', () => {
  it('serves its traffic, takes no writes, logs the remedy, and stops at SIGTERM', async () => {
    const folder = newFolder();
    const [api, web] = [await freePort(), await freePort()];
    const first = await startSluice({ folder, port: api });
    const client = apiClient(first.url);
    await client.create('listeners', { name: 'web', address: '127.0.0.1', port: web });
    await client.create('routes', { name: 'kept', directResponse: { status: 200, body: 'kept' } });
    await client.activateAs('v1');
    await first.stop('SIGKILL');
    await writeFile(join(first.storePath, 'raft', 'SUSPECT'), 'a write is missing');

    const second = launchSluice({ folder, port: api });
    second.ready.catch(() => undefined);
    await eventually(async () => expect(await (await fetch(`http://127.0.0.1:${web}/`)).text()).to.equal('kept'));
    await eventually(() => expect(second.output.join('\n')).to.include('remove raft/SUSPECT to accept that'));
    await eventually(async () => expect((await call(first.url, 'GET', '/readyz')).status).to.equal(503));
    const refused = await client.post('/routes', { name: 'new', directResponse: { status: 200 } });
    expect(refused.status).to.equal(503);
    expect(refused.body.error).to.include('a write is missing');
    expect(await second.stop()).to.equal(0);
  });
});
