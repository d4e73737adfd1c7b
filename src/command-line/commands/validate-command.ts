// `validate`: files and settings, without a server, by the code of the program itself.
import { command } from '../command-declaration.ts';
import { readText } from '../connection/credentials.ts';
import { sarifOf } from '../documents/reports.ts';
import { exitCodes, wrongUsage } from '../exit.ts';
import { countOf, type Fault, faultLines } from '../input/fault.ts';
import { readInputFiles } from '../input/input-files.ts';
import { noVariables, variablesOf } from '../input/variables.ts';
import { inputFlags } from '../plan/input-plan.ts';

export const validateCommand = command({
  words: 'validate',
  brief: 'Check files without a server',
  text: `By the model, the expressions and the compilation that a snapshot is checked with. A reference that the input lacks is a fault,
unless \`--against\` gives the rest. Values of secrets are not known here: what holds a reference to one is judged at the capture.`,
  flags: {
    ...inputFlags,
    against: { kind: 'texts', value: 'FILE', brief: 'Resources beside the input, as sluice export prints them' },
    config: { kind: 'text', value: 'FILE', brief: 'Settings of a node or a proxy' },
  },
  isLocal: true,
  hasForms: true,
  extraForms: ['sarif'],
  examples: [
    { line: 'sluice validate -f conf/', does: 'checks a folder, for instance in CI' },
    {
      line: 'sluice validate --config /etc/sluice/config.yaml',
      does: 'checks the settings of a node before its start',
    },
  ],
  async run(session, _, { file, owner, var: given, against, config }) {
    if (file.length === 0 && config === undefined) throw wrongUsage('validate needs -f FILE or --config FILE');
    const { checkOffline, checkSettings, readEntities } = await import('../checks.ts');
    const faults: Fault[] = [];
    const warnings: Fault[] = [];
    if (config !== undefined) {
      const found = checkSettings(await readText(config));
      const fault = (message: string): Fault => ({
        place: { file: config, line: 1, column: 1 },
        subject: '',
        pointer: '',
        message,
      });
      if (found.error !== undefined) faults.push(...found.error.split('; ').map(fault));
      warnings.push(...found.warnings.map(fault));
    }
    if (file.length > 0) {
      const input = readEntities(await readInputFiles(file), variablesOf(given), owner);
      const rest = against.length === 0 ? undefined : readEntities(await readInputFiles(against), noVariables);
      const checked = await checkOffline(input, rest, Date.now());
      faults.push(...checked.faults);
      warnings.push(...checked.warnings);
    }
    const { terminal, form, options } = session;
    if (form.is === 'extra') terminal.print(JSON.stringify(sarifOf(faults, warnings, options.version), undefined, 2));
    else if (form.is === 'json') terminal.print(JSON.stringify({ faults, warnings }, undefined, 2));
    else {
      for (const line of faultLines(warnings)) terminal.warn(line);
      for (const line of faultLines(faults)) terminal.print(line);
      terminal.note(faults.length === 0 ? 'no fault' : countOf(faults.length, 'fault'));
    }
    return faults.length === 0 ? exitCodes.done : exitCodes.failed;
  },
});
