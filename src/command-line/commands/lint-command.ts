// `lint`: findings of files, without a server, by the rules of `GET /findings`.
import { type Severity, severities } from '../../model/severity.ts';
import { command } from '../command-declaration.ts';
import { sarifOfFindings } from '../documents/reports.ts';
import { exitCodes, wrongUsage } from '../exit.ts';
import { countOf, faultLines } from '../input/fault.ts';
import { readInputFiles } from '../input/input-files.ts';
import { noVariables, variablesOf } from '../input/variables.ts';
import { inputFlags, refusedInput } from '../plan/input-plan.ts';

export const lintCommand = command({
  words: 'lint',
  brief: 'Find what is wrong with files, without a server',
  text: `By the rules of docs/findings.md: routes that no request reaches, redirects that lead back, and more. Nothing is told of what
holds a reference to a secret, whose value is not known here.`,
  flags: {
    ...inputFlags,
    against: { kind: 'texts', value: 'FILE', brief: 'Resources beside the input, as sluice export prints them' },
    failOn: {
      kind: 'text',
      value: 'SEVERITY',
      brief: 'error (default), warning or info: exit code 1 for findings so grave',
    },
  },
  isLocal: true,
  hasForms: true,
  extraForms: ['sarif'],
  examples: [
    { line: 'sluice lint -f conf/ --fail-on warning', does: 'fails in CI where a file has an error or a warning' },
  ],
  async run(session, _, { file, owner, var: given, against, failOn = 'error' }) {
    if (file.length === 0) throw wrongUsage('lint needs -f FILE');
    const limit = severities.indexOf(failOn as Severity);
    if (limit < 0) throw wrongUsage(`--fail-on takes ${severities.join(', ')}, not ${failOn}`);
    const { lintOffline, readEntities } = await import('../checks.ts');
    const input = readEntities(readInputFiles(file), variablesOf(given), owner);
    const rest = against.length === 0 ? undefined : readEntities(readInputFiles(against), noVariables);
    const { faults, findings } = await lintOffline(input, rest, Date.now());
    if (faults.length > 0) throw refusedInput(faults);
    const { terminal, form, options } = session;
    if (form.is === 'extra') terminal.print(JSON.stringify(sarifOfFindings(findings, options.version), undefined, 2));
    else if (form.is === 'json') terminal.print(JSON.stringify({ findings }, undefined, 2));
    else {
      const lines = findings.map((each) => ({ ...each, message: `${each.severity} ${each.rule}: ${each.message}` }));
      for (const line of faultLines(lines)) terminal.print(line);
      terminal.note(findings.length === 0 ? 'no finding' : countOf(findings.length, 'finding'));
    }
    const isGrave = findings.some(({ severity }) => severities.indexOf(severity) <= limit);
    return isGrave ? exitCodes.failed : exitCodes.done;
  },
});
