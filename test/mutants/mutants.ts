// `npm run mutants -- [--seed N] [--each N] [--minutes N] [--only text]`: plants bugs into model, match, forward, findings, replay,
// shadow and state, one at a time, and runs the unit tests of the area. Exits with 1 when fewer than 80 % of them fail a test.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { areas, type Site, sitesOf } from './sites.ts';

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

const isKilled = (site: Site | undefined, tests: readonly string[]): boolean => {
  const args = ['node_modules/mocha/bin/mocha.js', '--bail', '--reporter', 'dot', '--exit'];
  // Threads and programs that a test starts have the bug, too.
  const planting = site && { NODE_OPTIONS: `--import=${plantUrl}`, UNIT_MUTANT: JSON.stringify(site) };
  const env = { ...process.env, ...planting };
  // Mocha takes a pattern apart at its commas, and passes without the tests that it does not find then.
  const files = tests.flatMap((pattern) => {
    const found = globSync(pattern);
    if (found.length === 0) throw new Error(`there is no test ${pattern}`);
    return found;
  });
  const { status } = spawnSync(process.execPath, [...args, ...files], { env, timeout: runMs });
  return status !== 0;
};

/** Lists of tests that pass without a planted bug. */
const passing = new Set<readonly string[]>();
const finds = (site: Site, tests: readonly string[]): boolean => {
  if (!isKilled(site, tests)) return false;
  if (!passing.has(tests) && isKilled(undefined, tests))
    throw new Error(`${tests.join(' ')} fail without a planted bug`);
  passing.add(tests);
  return true;
};

const counts = { planted: 0, killed: 0 };
const survivors: string[] = [];
for (const area of areas.filter(({ folder }) => folder.includes(values.only))) {
  const sites = sample(sitesOf(area), Number(values.each));
  let killed = 0;
  let planted = 0;
  for (const site of sites) {
    if (performance.now() > endMs) break;
    planted++;
    const name = `${site.file}:${site.line} "${site.found}" -> "${site.planted}"`;
    const found = area.tests.some((tests) => finds(site, tests));
    if (found) killed++;
    else survivors.push(name);
    console.log(`${found ? 'killed  ' : 'SURVIVED'} ${name}`);
  }
  console.log(`${area.folder}: ${killed} of ${planted} killed`);
  counts.planted += planted;
  counts.killed += killed;
}
const share = counts.planted === 0 ? 1 : counts.killed / counts.planted;
console.log(
  `mutants: ${counts.killed} of ${counts.planted} killed (${(share * 100).toFixed(0)} %), seed ${values.seed}`,
);
for (const name of survivors) console.log(`survived: ${name}`);
process.exitCode = share < killedMin ? 1 : 0;
