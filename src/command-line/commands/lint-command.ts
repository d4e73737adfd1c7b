// `lint`: findings of files, without a server, by the rules of `GET /findings`, or those of what a server has.
import type { Finding, Findings } from '../../model/answers/finding-answers.ts';
import { command } from '../command-declaration.ts';
import type { Session } from '../command-session.ts';
import { sarifOfFindings } from '../documents/reports.ts';
import { exitCodes, wrongUsage } from '../exit.ts';
import { countOf, faultLines } from '../input/fault.ts';
import { readInputFiles } from '../input/input-files.ts';
import { noVariables, variablesOf } from '../input/variables.ts';
import { findingLine, findingText, isAnyGrave, severityGiven } from '../output/finding-lines.ts';
import { showValue } from '../output/form.ts';
import { findSnapshot } from '../plan/cluster-state.ts';
import { inputFlags, refusedInput } from '../plan/input-plan.ts';

export const lintCommand = command({
  words: 'lint',
  brief: 'Find what is wrong with files, without a server, or with what a server has',
  text: `By the rules of docs/findings.md: routes that no request reaches, redirects that lead back, and more. Nothing is told of what
holds a reference to a secret, whose value is not known here. With \`--of\` the server looks at what is staged or active, or at a
snapshot, with the values of secrets.`,
  flags: {
    ...inputFlags,
    against: { kind: 'texts', value: 'FILE', brief: 'Resources beside the input, as sluice export prints them' },
    of: { kind: 'text', value: 'STATE', brief: 'In place of files: staged, active, or a snapshot' },
    failOn: {
      kind: 'text',
      value: 'SEVERITY',
      brief: 'error (default), warning or info: exit code 1 for findings so grave',
    },
  },
  hasForms: true,
  extraForms: ['sarif'],
  examples: [
    { line: 'sluice lint -f conf/ --fail-on warning', does: 'fails in CI where a file has an error or a warning' },
  ],
  async run(session, _, { file, owner, var: given, against, of, failOn = 'error' }) {
    const limit = severityGiven(failOn);
    if (of === undefined && file.length === 0) throw wrongUsage('lint needs -f FILE, or --of staged');
    if (of !== undefined) {
      if (file.length + against.length + given.length > 0 || owner !== undefined)
        throw wrongUsage('--of takes the place of files, and of --owner and --var');
      const findings = await findingsAt(session, of);
      return isAnyGrave(findings, limit) ? exitCodes.failed : exitCodes.done;
    }
    const { lintOffline, readEntities } = await import('../checks.ts');
    const input = readEntities(await readInputFiles(file), variablesOf(given), owner);
    const rest = against.length === 0 ? undefined : readEntities(await readInputFiles(against), noVariables);
    const { faults, findings } = await lintOffline(input, rest, Date.now());
    if (faults.length > 0) throw refusedInput(faults);
    const { terminal, form, options } = session;
    if (form.is === 'extra') terminal.print(JSON.stringify(sarifOfFindings(findings, options.version), undefined, 2));
    else if (form.is === 'json') terminal.print(JSON.stringify({ findings }, undefined, 2));
    else {
      const lines = findings.map((each) => ({ ...each, message: findingText(each) }));
      for (const line of faultLines(lines)) terminal.print(line);
      terminal.note(countText(findings));
    }
    return isAnyGrave(findings, limit) ? exitCodes.failed : exitCodes.done;
  },
});

/** Prints the findings of what a server has, and resolves with them. */
async function findingsAt(session: Session, state: string): Promise<readonly Finding[]> {
  const { terminal, form } = session;
  if (form.is === 'extra') throw wrongUsage('-o sarif places findings in files, which --of has not');
  const api = await session.api();
  const of = state === 'staged' || state === 'active' ? state : (await findSnapshot(api, state)).id;
  const report = await api.get<Findings>('/findings', { of });
  const { findings } = report;
  await showValue(terminal, form, report, () => findings.map((each) => `${findingLine(each)}\n`).join(''));
  if (form.is === 'table') terminal.note(countText(findings));
  return findings;
}

const countText = ({ length }: readonly unknown[]): string =>
  length === 0 ? 'no finding' : countOf(length, 'finding');
