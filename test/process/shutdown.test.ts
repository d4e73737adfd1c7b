import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { forwardEverything } from '../support/one-route.ts';
import { startSluice } from '../support/sluice-process.ts';
import { startUpstream } from '../support/upstream.ts';

describe('SIGTERM', () => {
  it('ends open event streams, lets requests in flight finish and exits with 0', async () => {
    const held: ServerResponse[] = [];
    const upstream = await startUpstream('slow', (_request, response) => {
      response.write('first ');
      held.push(response);
    });
    const sluice = await startSluice();
    const web = await forwardEverything(sluice.url, upstream.port);

    const stream = await fetch(`${sluice.url}/sync/snapshot`);
    const events = stream.text();
    const inFlight = fetch(`${web}/`).then((response) => response.text());
    await eventually(() => expect(held).to.have.length(1));

    const stopped = sluice.stop('SIGTERM');
    await eventually(() => expect(sluice.output.join('\n')).to.contain('stopping'));
    expect(await events).to.match(/^event: snapshot\n/);
    held[0]?.end('last');
    expect(await inFlight).to.equal('first last');
    expect(await stopped).to.equal(0);
    await upstream.close();
  });

  it('takes a signal that npm or the launcher passes on again for one', async () => {
    const held: ServerResponse[] = [];
    const upstream = await startUpstream('slow', (_request, response) => void held.push(response));
    const sluice = await startSluice({ env: { SLUICE_LAUNCHED: '1' } });
    const web = await forwardEverything(sluice.url, upstream.port);
    const inFlight = fetch(`${web}/`).then((response) => response.text());
    await eventually(() => expect(held).to.have.length(1));

    const stopped = sluice.stop('SIGTERM');
    sluice.child.kill('SIGTERM');
    await eventually(() => expect(sluice.output.join('\n')).to.contain('stopping'));
    held[0]?.end('whole');
    expect(await inFlight).to.equal('whole');
    expect(await stopped).to.equal(0);
    await upstream.close();
  });

  it('reaches a server that npm started: no shell stands between them', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    // npm passes SIGTERM to its shell alone; a shell that does not become the server dies and leaves it behind.
    expect([scripts.start, scripts.cluster].map((script) => script.split(' ')[0])).to.deep.equal(['exec', 'exec']);
  });

  it('answers a second signal with exit code 130 at once', async () => {
    const held: ServerResponse[] = [];
    const upstream = await startUpstream('stuck', (_request, response) => void held.push(response));
    const sluice = await startSluice();
    const web = await forwardEverything(sluice.url, upstream.port);
    const cut = fetch(`${web}/`).catch((error: Error) => error);
    await eventually(() => expect(held).to.have.length(1));

    sluice.child.kill('SIGTERM');
    await eventually(() => expect(sluice.output.join('\n')).to.contain('stopping'));
    sluice.child.kill('SIGINT');
    await once(sluice.child, 'close');
    expect(sluice.child.exitCode).to.equal(130);
    expect(await cut).to.be.instanceOf(Error);
    await upstream.close();
  });
});
