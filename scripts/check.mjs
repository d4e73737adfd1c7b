// `npm run check`: format, lint, import borders, citations, dead exports, types, unit tests. Under a minute.
import { spawnSync } from 'node:child_process';

/** More files at once than processors: many tests wait for sockets. */
const unitTests = ['test/unit/**/*.test.ts', '--reporter', 'dot', '--parallel', '--jobs', '3'];
/** What Node compiled is kept for its next process. */
const compileCache = { NODE_COMPILE_CACHE: 'node_modules/.cache/compiled' };

const steps = [
  ['format and lint', 'biome', ['check', '.']],
  ['import borders', process.execPath, ['scripts/borders.mjs']],
  ['citations', process.execPath, ['scripts/citations.mjs']],
  ['dead files, exports and packages', 'knip', ['--no-progress']],
  ['types', process.execPath, ['node_modules/typescript-native/bin/tsc', '-p', 'tsconfig.test.json', '--noEmit']],
  [
    'types of raft/core, which is pure',
    process.execPath,
    ['node_modules/typescript-native/bin/tsc', '-p', 'raft/core/tsconfig.json'],
  ],
  ['unit tests', 'mocha', unitTests, compileCache],
];

for (const [name, command, args, environment] of steps) {
  const startedAt = performance.now();
  console.log(`\n> ${name}`);
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  if (error) console.error(error.message);
  if (status !== 0) {
    console.error(`check: ${name} failed`);
    process.exit(1);
  }
  console.log(`  ${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}
