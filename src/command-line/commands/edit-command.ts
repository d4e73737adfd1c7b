// `edit`: one resource in the editor of the user; faults come back as comments.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type EditableKind, editableKinds } from '../../model/kinds.ts';
import { command } from '../command-declaration.ts';
import type { Session } from '../command-session.ts';
import { ApiRefusal } from '../connection/failed-answers.ts';
import { type Entity, type FoundEntity, findEntity } from '../entities.ts';
import { CommandFailure, exitCodes, failed } from '../exit.ts';
import { noVariables } from '../input/variables.ts';
import { kindOf } from '../kind-names.ts';
import { yamlOf } from '../output/form.ts';
import { replaceEntity } from '../plan/one-change.ts';
import { runInShell } from '../shell-command.ts';

export const editCommand = command({
  words: 'edit',
  brief: 'Edit one resource in $VISUAL or $EDITOR',
  text: `What is refused is shown as comments, and the editor opens again. A text without a change, or an empty one, writes nothing.
One that could not be written, for instance because another client changed the resource meanwhile, is kept in a file that is named.`,
  arguments: [
    { name: 'KIND', brief: 'Kind of resource', choices: editableKinds },
    { name: 'NAME', brief: 'Name or id' },
  ],
  examples: [{ line: 'sluice edit route shop', does: 'opens the route as YAML' }],
  async run(session, [word = '', name = '']) {
    const kind = kindOf(word);
    const found = await findEntity(await session.api(), kind, name);
    const folder = mkdtempSync(join(tmpdir(), 'sluice-edit-'));
    const file = join(folder, `${kind}.yaml`);
    const original = await yamlOf(found.entity);
    try {
      const code = await editedIn(session, { kind, file, original, ...found });
      rmSync(folder, { recursive: true, force: true });
      return code;
    } catch (error) {
      if (
        existsSync(file) &&
        withoutComments(readFileSync(file, 'utf8')) !== original &&
        error instanceof CommandFailure
      )
        throw new CommandFailure(error.code, error.message, [...error.lines, `the text is kept in ${file}`]);
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  },
});

interface Editing extends FoundEntity {
  readonly kind: EditableKind;
  readonly file: string;
  readonly original: string;
}

async function editedIn(session: Session, { kind, file, original, entity, etag }: Editing): Promise<number> {
  let text = original;
  for (let faults: readonly string[] = []; ; ) {
    const shown = withComments(text, faults);
    const edited = await edit(session, file, shown);
    // Closed without a change: the faults are given up, too.
    const isAbandoned = edited === '' || (faults.length > 0 && edited === withoutComments(shown));
    if (isAbandoned) return nothing(session.terminal, faults);
    text = edited;
    const { value, problems } = await read(text);
    faults = problems;
    if (value === undefined) continue;
    if (isDeepStrictEqual(value, entity)) return nothing(session.terminal, []);
    try {
      session.underWay = `the change may have been taken; sluice describe tells, nothing is live by it, and the text is in ${file}`;
      await replaceEntity(session, { kind, id: entity.id, entity: value, etag });
      session.terminal.note(`changed   ${kind}/${value.name}`);
      return exitCodes.done;
    } catch (error) {
      if (!(error instanceof ApiRefusal) || !mendable.has(error.status)) throw error;
      faults = error.reason.split('; ');
    }
  }
}

/** Statuses of refusals that another text avoids: a fault, and a name that is taken. */
const mendable = new Set([400, 409]);

function nothing(terminal: { note(line: string): void }, faults: readonly string[]): number {
  if (faults.length > 0) throw failed('nothing was written', faults);
  terminal.note('no change');
  return exitCodes.done;
}

const mark = '#! ';

const withComments = (text: string, faults: readonly string[]): string =>
  `${faults.map((fault) => `${mark}${fault.replaceAll('\n', ' ')}\n`).join('')}${text}`;

const withoutComments = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith(mark))
    .join('\n');

/** Opens the editor; resolves with the text without the comments. */
async function edit(session: Session, file: string, text: string): Promise<string> {
  writeFileSync(file, text, { mode: 0o600 });
  const editor = process.env.VISUAL || process.env.EDITOR || 'vi';
  session.isBehindEditor = true;
  const { failure } = await runInShell(`${editor} "$1"`, { args: [file], stdio: 'inherit' });
  session.isBehindEditor = false;
  if (failure !== undefined) throw failed(`the editor ${editor} failed: ${failure}; nothing was written`);
  const edited = withoutComments(readFileSync(file, 'utf8'));
  return edited.trim() === '' ? '' : edited;
}

async function read(text: string): Promise<{ readonly value?: Entity; readonly problems: readonly string[] }> {
  const { yamlValues } = await import('../input/yaml-value.ts');
  const problems: string[] = [];
  const [first] = yamlValues(text, noVariables, ({ at, message }) => {
    const line = text.slice(0, at).split('\n').length;
    problems.push(`line ${line}: ${message}`);
  });
  const { value } = first ?? {};
  if (problems.length > 0) return { problems };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { problems: ['must be a map'] };
  return { value: value as Entity, problems };
}
