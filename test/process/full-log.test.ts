// Standard output on a disk that is full: lines are lost, the program goes on and says how many.
import { once } from 'node:events';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { sampleOf } from '../support/metric-lines.ts';
import { launchSluice, program } from '../support/sluice-process.ts';

describe('the log on a disk without room', () => {
  for (const format of ['json', 'console'])
    it(`costs lines of format ${format} and nothing else, and a stop ends as always`, async function () {
      if (process.platform !== 'linux') this.skip();
      const port = await freePort();
      const { child, ready } = launchSluice({
        port,
        logFormat: format,
        command: (file) => ['bash', '-c', 'exec "$@" > /dev/full', 'bash', ...program, '--config', file],
      });
      // Its line never gets out.
      ready.catch(() => undefined);
      const url = `http://127.0.0.1:${port}`;
      await eventually(async () => expect((await fetch(`${url}/readyz`)).status).to.equal(200));
      await eventually(async () => {
        const metrics = await (await fetch(`${url}/metrics`)).text();
        expect(sampleOf(metrics, 'sluice_log_lines_lost_total{log="process"}')).to.be.above(0);
      });
      const created = await fetch(`${url}/api/v1/destinations`, {
        method: 'POST',
        body: JSON.stringify({ name: 'd', host: '127.0.0.1', port: 1 }),
        headers: { 'content-type': 'application/json' },
      });
      expect(created.status).to.equal(201);
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'close');
      expect(child.exitCode).to.equal(0);
    });
});
