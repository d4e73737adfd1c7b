// `test`: cases of routing, without a server: unit tests of a configuration for CI.
import { command } from '../command-declaration.ts';
import { junitOf } from '../documents/reports.ts';
import { CommandFailure, exitCodes, wrongUsage } from '../exit.ts';
import { countOf, type Fault, faultLines, placeText } from '../input/fault.ts';
import { readInputFiles } from '../input/input-files.ts';
import { noVariables, variablesOf } from '../input/variables.ts';
import { inputFlags } from '../plan/input-plan.ts';

export const testCommand = command({
  words: 'test',
  brief: 'Run cases of routing without a server',
  text: `A file of cases is \`cases: [{name, request: {method, url, headers, clientIp, listener, body}, expect: {route, group, destination, status,
location, headers, upstream: {host, target}}}]\`. What \`expect\` leaves out is not compared; \`route: null\` expects that none matches;
\`headers\` are those that middlewares set on the way to the upstream. Exit code 1: a case does not hold.`,
  arguments: [{ name: 'CASES', brief: 'Files of cases', many: true }],
  flags: inputFlags,
  isLocal: true,
  hasForms: true,
  extraForms: ['junit'],
  examples: [{ line: 'sluice test cases.yaml -f conf/', does: 'says which requests go elsewhere than expected' }],
  async run(session, files, { file, owner, var: given }) {
    if (files.length === 0) throw wrongUsage('test needs a file of cases');
    const { checkOffline, readCases, readEntities, runCases } = await import('../checks.ts');
    const variables = variablesOf(given);
    const input = readEntities(await readInputFiles(file), variables, owner);
    const { faults: ofInput, configuration } = await checkOffline(input, undefined, Date.now());
    const faults: Fault[] = [...ofInput];
    const cases = (await readInputFiles(files)).flatMap((each) => readCases(each, noVariables, faults));
    if (faults.length > 0)
      throw new CommandFailure(exitCodes.failed, `refused: ${countOf(faults.length, 'fault')}`, faultLines(faults));
    const results = await runCases(cases, configuration);
    const failures = results.filter(({ differences }) => differences.length > 0);
    const { terminal, form } = session;
    if (form.is === 'extra') terminal.write(junitOf(results));
    else if (form.is === 'json') terminal.print(JSON.stringify(results, undefined, 2));
    else {
      for (const { name, place, differences } of failures)
        for (const line of differences)
          terminal.print(`${terminal.paint('red', 'FAIL')}  ${placeText(place)}  ${name}: ${line}`);
      terminal.note(`${countOf(results.length, 'case')}, ${failures.length} failed`);
    }
    return failures.length === 0 ? exitCodes.done : exitCodes.failed;
  },
});
