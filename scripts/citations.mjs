// Checks that what comments, tests and pages cite is there: the page, its section, its rule (docs/reference).
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { citationsIn, linksIn, rulesOf, unwrapped } from './citation.ts';

const pages = [...globSync('docs/**/*.md'), ...globSync('*.md')];
const sources = globSync(['{src,raft,disk,test}/**/*.{ts,mjs,py,txt}', 'scripts/*.{ts,mjs}', '.ci/*', '.*.cjs']);
const rules = new Map(pages.map((file) => [file, rulesOf(readFileSync(file, 'utf8'))]));

const problems = [];
let citations = 0;
for (const file of [...sources, ...pages]) {
  const text = readFileSync(file, 'utf8');
  const isPage = file.endsWith('.md');
  if (isPage) {
    for (const target of linksIn(text)) {
      if (!existsSync(join(dirname(file), target))) problems.push(`${file}: links to ${target}, which is not there`);
    }
  }
  for (const citation of citationsIn(isPage ? withoutLinks(text) : unwrapped(text))) {
    citations += 1;
    const problem = problemOf(citation);
    if (problem !== undefined) problems.push(`${file}: ${problem}`);
  }
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`citations: ${citations} in ${sources.length} files, all there`);

function problemOf({ folder, name, rules: cited }) {
  const path = normalize(`${folder}${name}`).replace(/^(\.\.\/)+/, '');
  const found = pages.filter((file) => basename(file) === name && (folder === '' || file.endsWith(path)));
  if (found.length === 0) return `cites ${folder}${name}, which is not there`;
  const missing = cited.filter((rule) => !found.some((file) => rules.get(file)?.has(rule)));
  if (missing.length > 0) return `cites ${missing.join(', ')} of ${name}, which ${name} does not have`;
  return undefined;
}

/** Removes the targets of links, which are checked by themselves; a number behind a link is a citation. */
function withoutLinks(text) {
  return text.replace(/\[[^\]]*\]\(([^)\s#]*)[^)]*\)/g, (_all, target) =>
    target.endsWith('.md') ? basename(target) : ' ',
  );
}
