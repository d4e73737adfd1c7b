// Commit subjects (`.ci/run`): `area: imperative verb …`, at most 72 characters, from the commit in `.subjects-since` on.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { subjectProblem } from './subject.ts';

const since = readFileSync('.subjects-since', 'utf8').trim();
const log = spawnSync('git', ['log', '--no-merges', '--format=%h %s', `${since}..HEAD`], { encoding: 'utf8' });
if (log.status !== 0) {
  console.log(`subjects: not checked, this clone does not have ${since}`);
} else {
  const commits = log.stdout.split('\n').filter((line) => line !== '');
  const problems = commits.flatMap((line) => {
    const [, hash, subject] = /^(\S+) (.*)$/.exec(line);
    const problem = subjectProblem(subject);
    return problem === undefined ? [] : [`${hash} ${subject}: ${problem}`];
  });
  for (const problem of problems) console.error(problem);
  console.log(`subjects: ${commits.length} commits, ${problems.length} to mend`);
  if (problems.length > 0) process.exitCode = 1;
}
