// The coverage ratchet: what unit tests, those of volume and of threads cover may not fall below .coverage-floor.json. `--raise` writes down what
// was just reached, half a point below it, for that much changes with the timing of threads.
// The clients, command line and controller, are left out: what tests them runs against servers (test/api, test/cluster,
// test/process, test/kubernetes).
import { readFileSync, writeFileSync } from 'node:fs';

const floorFile = '.coverage-floor.json';
const { total } = JSON.parse(readFileSync('coverage/coverage-summary.json', 'utf8'));
const reached = Object.fromEntries(['lines', 'branches', 'functions'].map((what) => [what, total[what].pct]));

if (process.argv.includes('--raise')) {
  const floor = Object.fromEntries(
    Object.entries(reached).map(([what, percent]) => [what, Math.floor(percent * 2 - 1) / 2]),
  );
  writeFileSync(floorFile, `${JSON.stringify(floor, null, 2)}\n`);
}

const floor = JSON.parse(readFileSync(floorFile, 'utf8'));
const fallen = Object.entries(floor).filter(([what, percent]) => reached[what] < percent);
for (const [what, percent] of fallen)
  console.error(`coverage: ${what} fell to ${reached[what]} %, the floor is ${percent} %`);
if (fallen.length > 0) process.exit(1);
