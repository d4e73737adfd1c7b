// Scripts of package.json: each is run here, or named in one list with the reason. A script that a test runs in full with
// other files beside it (npm test, its stages) is named too.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { build } from 'esbuild';
import { call } from '../support/http-call.ts';

const root = new URL('../../', import.meta.url).pathname;
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> };

/** Arguments of a short run that ends by itself with 0, and text that it prints. */
const shortRuns: Readonly<Record<string, readonly [args: string, prints: RegExp]>> = {
  package: ['--help', /^Usage: npm run package/],
  simulate: ['--seeds 1 --minutes 1', /1 seeds/],
  'simulate:mutants': ['--seeds 1 --only no-such-mutant', /every planted bug was found/],
  'simulate:cluster': ['--seeds 1 --minutes 1', /1 seeds/],
  mutants: ['--only no-such-area', /mutants: 0 of 0 killed/],
  'simulate:cluster-mutants': ['--seeds 1 --only no-such-mutant', /every planted bug was found/],
  'raft:explore': ['--depth 3', /no promise was broken/],
  'raft:adapter': ['', /^$/],
  'raft:pure': ['', /^$/],
  'raft:types': ['', /^$/],
  'test:faults': ['--help', /npm run test:faults/],
  'fuzz:http2': ['--frames 1000 --seed 1', /0 findings/],
  'fuzz:policies': ['--help', /npm run fuzz:policies/],
  'fuzz:exchanges': ['--help', /npm run fuzz:exchanges/],
  'soak:fates': ['--help', /npm run soak:fates/],
  soak: ['--help', /npm run soak/],
  'soak:dashboard': ['--help', /npm run soak:dashboard/],
  controller: ['--help', /Usage: sluice-controller/],
  bench: ['--list', /small-get/],
  ...Object.fromEntries(
    Object.keys(scripts)
      .filter((name) => name.startsWith('bench:'))
      .map((name) => [name, ['--help', /\w/]] as const),
  ),
};

const notRun: Readonly<Record<string, string>> = {
  'test:importers': 'test/process/importers.test.ts is run with fewer files',
  test: 'runs this test',
  build: 'replaces dist/ under the tests beside this one; npm test builds before it begins',
  check: 'the first stage of npm test',
  words: 'part of npm run check: the first stage of npm test',
  lint: 'part of npm run check: the first stage of npm test',
  typecheck: 'part of npm run check: the first stage of npm test',
  format: 'writes the working tree; npm run check runs the same program without writing',
  shapes: 'writes the working tree; test/unit/model/shapes.test.ts compares what it would write',
  commands: 'writes the working tree; test/unit/command-line/reference-page.test.ts compares what it would write',
  fields: 'writes the working tree; a test of docs/fields compares what it would write',
  settings: 'writes the working tree; test/unit/docs/settings.test.ts compares what it would write',
  'gateway-api': 'writes types from files of the Gateway API that a person fetches',
  'ui:types': 'writes the working tree; a test of the dashboard compares what it would write',
  'test:kubernetes': 'builds a cluster of Kubernetes and runs its conformance suite: minutes',
  'test:package': 'builds and installs every package: minutes',
  lock: 'asks the registry and writes package-lock.json',
  'test:unit': 'part of npm run check: the first stage of npm test',
  'test:document': 'installs a client from PyPI and asks for two minutes',
  coverage: 'runs all unit and thread tests again, instrumented: minutes',
};

/** Scripts that serve until a signal comes, with tests of their own below. */
const servers = ['start', 'cluster'];

describe('scripts of package.json', () => {
  it('are each run by a test or named with the reason', () => {
    const known = [...Object.keys(shortRuns), ...Object.keys(notRun), ...servers];
    expect(known.toSorted()).to.deep.equal(Object.keys(scripts).toSorted());
  });

  it('find all that they import', async () => {
    const named = Object.values(scripts).flatMap(
      (line) => line.match(/\b(?:scripts|test|raft)\/[\w/.-]+\.(?:mjs|ts)\b/g) ?? [],
    );
    const entryPoints = [...new Set([...named, ...globSync('scripts/*.mjs', { cwd: root })])];
    const options = { bundle: true, write: false, outdir: 'out', platform: 'node', format: 'esm' } as const;
    const loader = { '.node': 'empty' } as const;
    const { errors } = await build({
      ...options,
      ...{ loader, entryPoints, absWorkingDir: root, packages: 'external', logLevel: 'silent' },
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    });
    expect(errors).to.deep.equal([]);
  });

  for (const [name, [args, prints]] of Object.entries(shortRuns)) {
    it(`npm run ${name}${args && ` -- ${args}`} ends with 0`, async () => {
      const child = spawn('npm', ['run', '--silent', name, '--', ...args.split(' ').filter(Boolean)], {
        ...{ cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
      });
      const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      expect(child.exitCode, `${output}${errors}`).to.equal(0);
      expect(output.trim()).to.match(prints);
    });
  }

  it('npm run cluster starts three nodes that have one leader, and ends all of them at Ctrl-C', async () => {
    // A group of its own, as a terminal gives it.
    const child = spawn('npm', ['run', '--silent', 'cluster'], {
      ...{ cwd: root, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
    const closed = once(child, 'close');
    try {
      while (!output.includes('Three nodes are ready.') || !output.includes('Ctrl-C stops all')) {
        await Promise.race([once(child.stdout, 'data'), closed]);
        expect(child.exitCode, output).to.equal(null);
      }
      const nodes = [...output.matchAll(/^ {2}([abc]) {2}(http:\S+) {2}process (\d+)$/gm)];
      expect(nodes).to.have.length(3);
      const leaders = await Promise.all(
        nodes.map(async ([, , url = '']) => JSON.parse((await call(url, 'GET', '/api/v1/cluster')).text).leader),
      );
      expect(leaders[0]).to.match(/^[abc]$/);
      expect(new Set(leaders).size).to.equal(1);
      process.kill(-(child.pid ?? 0), 'SIGINT');
      await closed;
      for (const [, , , pid] of nodes) expect(() => process.kill(Number(pid), 0), output).to.throw('ESRCH');
    } finally {
      if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
    }
  });
});
