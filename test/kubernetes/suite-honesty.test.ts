// The conformance suite as the harness runs it: it passes where Gateways are served, and in no other case.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { newFolder } from '../support/sluice-process.ts';

const folder = join(import.meta.dirname, 'cluster');
const testName = 'HTTPRouteSimpleSameNamespace';

interface SuiteRun {
  readonly code: number | null;
  readonly log: string;
}

/**
 * Runs one test of the suite with short time-outs, in a cluster of its own: the suite fails where it finds what an earlier
 * run has left. `env` chooses the controller and the Sluice that it writes to.
 */
async function runSuite(env: NodeJS.ProcessEnv): Promise<SuiteRun> {
  const timeouts = readFileSync(join(folder, 'short-timeouts.txt'), 'utf8').trim();
  const RUN = newFolder();
  const command = [join(folder, 'suite.sh'), '-run-test', testName, '-timeout-config-overrides', timeouts];
  const options = { stdio: 'ignore', env: { ...process.env, RUN, ...env } } as const;
  const child = spawn(join(folder, 'start.sh'), command, options);
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, log: readFileSync(join(RUN, 'logs/suite'), 'utf8') };
}

const runController = join(folder, 'run-controller.sh');

describe('the conformance suite', function () {
  this.timeout(300_000);
  before(function () {
    if (process.env.KUBE_SERVER !== undefined) return;
    process.stderr.write('left out, needs the cluster of test/kubernetes/cluster: the conformance suite\n');
    this.skip();
  });

  it('fails without a controller: the class is not accepted', async () => {
    const { code, log } = await runSuite({ CONTROLLER: 'sleep infinity', CLASS_TIMEOUT: '2s' });
    expect(code).to.not.equal(0);
    expect(log).to.match(/GatewayClass/);
    expect(log).to.not.match(new RegExp(`--- PASS: .*${testName}`));
  });

  it('fails while Sluice cannot be reached: no Gateway is programmed', async () => {
    const { code, log } = await runSuite({ CONTROLLER: runController, SLUICE: 'true' });
    expect(code).to.not.equal(0);
    expect(log).to.match(/Programmed/);
    expect(log).to.not.match(new RegExp(`--- PASS: .*${testName}`));
  });

  it('fails with statuses alone: Gateways are programmed, and no request is answered', async () => {
    const node = process.execPath;
    const SLUICE = `${node} ${join(folder, 'sluice-without-proxy.mjs')}`;
    const { code, log } = await runSuite({ CONTROLLER: runController, SLUICE });
    expect(code).to.not.equal(0);
    expect(log).to.match(new RegExp(`--- FAIL: .*${testName}`));
    expect(log).to.match(/connection refused/);
  });

  it('passes where Sluice serves', async () => {
    const { code, log } = await runSuite({ CONTROLLER: runController });
    expect(code).to.equal(0);
    expect(log).to.match(new RegExp(`--- PASS: .*${testName}`));
  });
});
