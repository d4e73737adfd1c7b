// `import`: configurations of other programs as resources, with a report of each directive and a case for each route.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nearestWord } from '../../util/nearest-word.ts';
import { command } from '../command-declaration.ts';
import { exitCodes, failed, wrongUsage } from '../exit.ts';
import type { ImportResult } from '../import/importers.ts';
import { type Program, programs } from '../import/programs.ts';
import { countsOf, reportLines, rowsOf } from '../import/report-text.ts';
import { listsOf } from '../import/resource-lists.ts';
import { countOf } from '../input/fault.ts';
import { readInputFiles } from '../input/input-files.ts';
import { yamlOf } from '../output/form.ts';

export const importCommand = command({
  words: 'import',
  brief: 'Make resources of the configuration of another program',
  text: `Each directive ends as taken, approximated, or not taken, and the report says why, with file and line; nothing is left out in
silence. Without \`--out\` the resources go to standard output and the report to standard error. With it the folder gets \`resources.yaml\`
for \`sluice apply\`, \`cases.yaml\` with a request for each route, for \`sluice test\`, and \`report.yaml\` with every directive.
\`-o json\` prints all three as one value. Exit code 3: something is not taken.`,
  arguments: [
    { name: 'PROGRAM', brief: 'Program whose files they are', choices: programs },
    { name: 'FILE', brief: 'Files, folders with YAML or JSON, or - for standard input', many: true },
  ],
  flags: {
    out: { kind: 'text', value: 'FOLDER', brief: 'Write resources.yaml, cases.yaml and report.yaml into it' },
  },
  isLocal: true,
  hasForms: true,
  examples: [
    {
      line: 'sluice import nginx /etc/nginx/nginx.conf --out conf',
      does: 'writes resources, cases and the report into the folder conf',
    },
    { line: 'sluice test conf/cases.yaml -f conf/resources.yaml', does: 'runs the cases' },
  ],
  async run(session, [program, ...files], { out }) {
    const known = programs.find((each) => each === program);
    if (known === undefined) throw unknownProgram(program);
    if (files.length === 0) throw wrongUsage('import needs a file');
    const { importFiles } = await import('../checks.ts');
    const result = await importFiles(known as Program, await readInputFiles(files));
    const { terminal, form } = session;
    const { taken, approximated, notTaken } = countsOf(result.report);
    if (form.is === 'json') terminal.print(JSON.stringify(wholeOf(result), undefined, 2));
    else if (form.is === 'yaml') terminal.write(await yamlOf(wholeOf(result)));
    else {
      const lines = [...reportLines(result.report), ...result.notes.map((note) => `note: ${note}`)];
      if (out === undefined) {
        terminal.write(await resourcesText(result));
        for (const line of lines) terminal.fail(line);
      } else for (const line of lines) terminal.print(line);
      const count = `${countOf(result.resources.length, 'resource')}, ${countOf(result.cases.length, 'case')}`;
      const total = `${taken} taken, ${approximated} approximated, ${notTaken} not taken`;
      terminal.hint(`${count}; directives: ${total}`);
    }
    if (out !== undefined) await write(session, out, result);
    return notTaken > 0 ? exitCodes.different : exitCodes.done;
  },
});

function unknownProgram(program = ''): Error {
  const near = nearestWord(program, programs);
  return wrongUsage(
    `import takes ${programs.join(', ')}, not ${program || 'nothing'}${near === undefined ? '' : ` (did you mean ${near}?)`}`,
  );
}

const resourcesText = async (result: ImportResult): Promise<string> => await yamlOf(listsOf(result));

const wholeOf = (result: ImportResult): object => ({
  resources: listsOf(result),
  cases: result.cases,
  report: rowsOf(result.report),
  notes: result.notes,
});

type Session = Parameters<typeof importCommand.run>[0];

/** Writes the three files; asks before it replaces one. */
async function write(session: Session, folder: string, result: ImportResult): Promise<void> {
  const texts = {
    'resources.yaml': await resourcesText(result),
    'cases.yaml': await yamlOf({ cases: result.cases }),
    'report.yaml': await yamlOf({ report: rowsOf(result.report), notes: result.notes }),
  };
  const there = Object.keys(texts).filter((name) => existsSync(join(folder, name)));
  if (there.length > 0) await session.confirm(`Replace ${there.join(', ')} in ${folder}?`);
  for (const [name, text] of Object.entries(texts)) {
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, name), text);
    } catch (error) {
      throw failed(`cannot write ${join(folder, name)}: ${error instanceof Error ? error.message : error}`);
    }
  }
}
