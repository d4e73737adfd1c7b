// Checks the import borders of .dependency-cruiser.cjs, that folders need each other in no circle, and that every module
// was read: a cruiser that resolves nothing reports no violation either.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { folderCycles } from './folder-cycles.ts';

const roots = ['src', 'raft', 'disk', 'program'].filter((root) => sources(root).length > 0);
const expected = roots.flatMap(sources).length;
const run = spawnSync('depcruise', [...roots, '--config', '.dependency-cruiser.cjs', '--output-type', 'json'], {
  encoding: 'utf8',
  maxBuffer: 256 * 1024 * 1024,
});
if (!run.stdout) fail(`dependency-cruiser printed nothing: ${run.stderr}`);

const { modules, summary } = JSON.parse(run.stdout);
const read = modules.filter(({ source }) => /^(src|raft|disk|program)\/.*\.ts$/.test(source)).length;
if (read < expected) fail(`dependency-cruiser read ${read} of ${expected} modules`);

for (const { rule, from, to } of summary.violations) {
  const { comment } = summary.ruleSetUsed.forbidden.find(({ name }) => name === rule.name) ?? {};
  console.error(`${rule.name}: ${from} -> ${to}\n  ${comment ?? ''}`);
}
const cycles = folderCycles(modules);
for (const { folders, steps } of cycles)
  console.error(`folders in a circle: ${folders.join(', ')}\n  ${steps.join('\n  ')}`);
if (summary.violations.length + cycles.length > 0) process.exit(1);
console.log(`borders: ${read} modules, no violation`);

function sources(root) {
  try {
    return readdirSync(root, { recursive: true }).filter((file) => file.endsWith('.ts'));
  } catch {
    return [];
  }
}

function fail(reason) {
  console.error(`borders: ${reason}`);
  process.exit(1);
}
