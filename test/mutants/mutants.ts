// `npm run mutants -- [--seed N] [--each N] [--minutes N] [--only text]`: plants bugs into model, match, forward, findings, replay,
// shadow and state, one at a time, and runs the unit tests of the area. Exits with 1 when fewer than 80 % of them fail a test;
// those whose tests do not come to their end in time count neither way.
import { globSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { areas, type Site, sitesOf } from './sites.ts';
import { mochaArguments, runTests, Tally, type TestResult } from './test-run.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    each: { type: 'string', default: '10' },
    minutes: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
  },
});
const killedMin = 0.8;
const runMs = 180_000;
const plantUrl = new URL('./plant.ts', import.meta.url).href;
const endMs = performance.now() + Number(values.minutes) * 60_000;

/** Numbers from 0 to below 1 by a linear congruential generator (Numerical Recipes). */
function* randoms(seed: number): Generator<number, never> {
  for (let state = seed >>> 0; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

const random = randoms(Number(values.seed));

function sample(sites: readonly Site[], count: number): Site[] {
  const left = [...sites];
  return Array.from({ length: Math.min(count, left.length) }).flatMap(() =>
    left.splice(Math.floor(random.next().value * left.length), 1),
  );
}

const resultOf = (site: Site | undefined, tests: readonly string[]): TestResult => {
  const args = [...mochaArguments(), '--bail', '--reporter', 'dot', '--exit'];
  // Threads and programs that a test starts have the bug, too.
  const planting = site && { NODE_OPTIONS: `--import=${plantUrl}`, UNIT_MUTANT: JSON.stringify(site) };
  // Mocha takes a pattern apart at its commas, and passes without the tests that it does not find then.
  const files = tests.flatMap((pattern) => {
    const found = globSync(pattern);
    if (found.length === 0) throw new Error(`there is no test ${pattern}`);
    return found;
  });
  return runTests([...args, ...files], { ...process.env, ...planting }, runMs);
};

/** Lists of tests that pass without a planted bug. */
const passing = new Set<readonly string[]>();
const verify = (tests: readonly string[]): void => {
  if (passing.has(tests)) return;
  const result = resultOf(undefined, tests);
  if (result !== 'passed')
    throw new Error(`${tests.join(' ')} ${result === 'failed' ? 'fail' : 'take too long'} without a planted bug`);
  passing.add(tests);
};

/** Asks the lists of tests in turn until one fails. */
const becomeOf = (site: Site, lists: readonly (readonly string[])[]): 'killed' | 'timedOut' | 'survived' => {
  let become: 'timedOut' | 'survived' = 'survived';
  for (const tests of lists) {
    const result = resultOf(site, tests);
    if (result === 'passed') continue;
    verify(tests);
    if (result === 'failed') return 'killed';
    become = 'timedOut';
  }
  return become;
};

const words = { killed: 'killed   ', timedOut: 'TIMED OUT', survived: 'SURVIVED ' };
const all = new Tally();
const survivors: string[] = [];
for (const area of areas.filter(({ folder }) => folder.includes(values.only))) {
  const sites = sample(sitesOf(area), Number(values.each));
  const tally = new Tally();
  for (const site of sites) {
    if (performance.now() > endMs) break;
    const name = `${site.file}:${site.line} "${site.found}" -> "${site.planted}"`;
    const become = becomeOf(site, area.tests);
    tally[become]++;
    if (become !== 'killed') survivors.push(`${words[become].trim().toLowerCase()}: ${name}`);
    console.log(`${words[become]} ${name}`);
  }
  console.log(`${area.folder}: ${tally}`);
  all.add(tally);
}
console.log(`mutants: ${all} (${(all.score * 100).toFixed(0)} %), seed ${values.seed}`);
for (const line of survivors) console.log(line);
process.exitCode = all.score < killedMin ? 1 : 0;
