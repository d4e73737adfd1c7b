// Plain words, counted (`npm run words`): first words of doc comments and file headers, and pronouns that make persons of
// machines, in comments, messages, test names and pages. Exits 1 with `file:line` while the count is above `.words-limit`.
import { globSync, readFileSync } from 'node:fs';
import { proseIn, sentencesOf } from './prose.ts';

const sources = globSync(['{src,raft,disk,test,ui}/**/*.{ts,tsx,mjs,js}', 'scripts/**/*.{ts,mjs}']);
const pages = [...globSync('docs/**/*.md'), ...globSync('deploy/**/*.md'), ...globSync('*.md')];

const openings = /^(Of|It|That|What|Whether|Who|None|They|Both|Each|Whose|Whoever|Where|When|How|Which)\b/;
/** Text that every file with a finding has, and few others: only those files are parsed. */
const openingOfComment = new RegExp(`/[/*][/*\\s]*${openings.source.slice(1)}`);
const pronouns = /\b(nobody|somebody|anybody|everybody|whoever|whatever|whom)\b/gi;
const mayHaveFindings = (source) => openingOfComment.test(source) || source.search(pronouns) >= 0;

const findings = [];
for (const file of sources) {
  const source = readFileSync(file, 'utf8');
  if (!mayHaveFindings(source)) continue;
  for (const { line, text, opens } of proseIn(file, source)) look(file, line, text, opens);
}
for (const file of pages) {
  for (const { line, text } of sentencesOf(readFileSync(file, 'utf8'))) look(file, line, text, false);
}

const limit = Number(readFileSync('.words-limit', 'utf8'));
const total = findings.length;
const count = (rule) => findings.filter((finding) => finding.rule === rule).length;
console.log(
  `words: ${count('opening')} openings without their noun, ${count('pronoun')} pronouns; at most ${limit} in all`,
);
if (process.argv.includes('--list') || total > limit) {
  for (const { file, line, word } of findings) console.error(`${file}:${line}: ${word}`);
}
if (total > limit) process.exitCode = 1;
if (total < limit) console.log(`words: set .words-limit to ${total}; it only falls`);

function look(file, line, text, opens) {
  const opening = opens ? openings.exec(text)?.[0] : undefined;
  if (opening !== undefined) findings.push({ rule: 'opening', file, line, word: `begins with "${opening}"` });
  for (const [word] of text.matchAll(pronouns)) findings.push({ rule: 'pronoun', file, line, word });
}
