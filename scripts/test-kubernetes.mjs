// `npm run test:kubernetes`: the Gateway API's conformance suite against the controller and Sluice in a cluster without
// containers (test/kubernetes). Left out by name where Go, etcd or root is missing. Arguments are for the suite.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../test/kubernetes/cluster');
const needs = [
  ['Go', () => found('go', 'version')],
  ['etcd', () => found('etcd', '--version')],
  ['root', () => process.getuid?.() === 0],
];
const missing = needs.filter(([, isThere]) => !isThere()).map(([name]) => name);
if (missing.length > 0) {
  console.log(`test: kubernetes: left out, for there is no ${missing.join(', no ')}`);
  process.exit(0);
}
const env = { ...process.env, CONTROLLER: join(folder, 'run-controller.sh') };
const args = process.argv.slice(2);
const runs = [[join(folder, 'suite.sh'), ...args]];
// Arguments are for the suite; without any the tests of what it does not see are run as well.
if (args.length === 0) runs.unshift(['mocha', 'test/kubernetes/*.test.ts']);
for (const command of runs) {
  const { status } = spawnSync(join(folder, 'start.sh'), command, { stdio: 'inherit', env });
  if (status !== 0) process.exitCode = status ?? 1;
}

function found(command, argument) {
  return spawnSync(command, [argument], { stdio: 'ignore' }).error === undefined;
}
