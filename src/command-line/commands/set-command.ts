// `set`: fields of one resource.

import { fieldChanges } from '../../model/entity-diff.ts';
import { command } from '../command-declaration.ts';
import { type Entity, findEntity } from '../entities.ts';
import { wrongUsage } from '../exit.ts';
import { segmentsOf } from '../input/input-entities.ts';
import { kindOf } from '../kind-names.ts';
import { changeLines } from '../plan/change-lines.ts';
import { replaceEntity } from '../plan/one-change.ts';

export const setCommand = command({
  words: 'set',
  brief: 'Change fields of one resource',
  text: 'A path has dots (`forward.timeouts.request`) or is a JSON pointer; the value is YAML. `path-` removes a field.',
  arguments: [
    { name: 'KIND/NAME', brief: 'Resource, such as routes/shop' },
    { name: 'PATH=VALUE', brief: 'Field and its value', many: true },
  ],
  examples: [
    { line: 'sluice set routes/shop forward.timeouts.request=5s', does: 'stages another time-out' },
    { line: 'sluice set routes/shop forward.timeouts-', does: 'removes the time-outs' },
  ],
  async run(session, [subject = '', ...given]) {
    const [word, name] = partsOf(subject);
    const kind = kindOf(word);
    if (given.length === 0) throw wrongUsage('set needs PATH=VALUE');
    const { parse } = await import('../yaml-library.ts');
    const edits = given.map((text) => editOf(text, (value) => parse(value, { logLevel: 'error' })));
    const api = await session.api();
    const { entity, etag } = await findEntity(api, kind, name);
    const edited = structuredClone(entity) as Record<string, unknown>;
    for (const edit of edits) carryOut(edited, edit);
    const changes = fieldChanges(entity, edited);
    const { terminal } = session;
    if (changes.length === 0) return void terminal.note('no change');
    await replaceEntity(session, { kind, id: entity.id, entity: edited as Entity, etag });
    for (const line of changeLines(
      [{ is: 'changed', kind, id: entity.id, name: entity.name, entity, changes }],
      terminal,
      '',
    ))
      terminal.note(line);
    return undefined;
  },
});

/** Splits `routes/shop` at its first slash. */
function partsOf(subject: string): [kind: string, name: string] {
  const slash = subject.indexOf('/');
  if (slash <= 0 || slash === subject.length - 1)
    throw wrongUsage(`a resource is named KIND/NAME, such as routes/shop, not ${subject}`);
  return [subject.slice(0, slash), subject.slice(slash + 1)];
}

interface Edit {
  readonly path: readonly string[];
  /** Undefined removes the field. */
  readonly value: unknown;
}

function editOf(text: string, parse: (text: string) => unknown): Edit {
  const [, path, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (path === undefined) {
    if (text.endsWith('-') && text.length > 1) return { path: pathOf(text.slice(0, -1)), value: undefined };
    throw wrongUsage(`set takes PATH=VALUE, not ${text}`);
  }
  try {
    return { path: pathOf(path), value: parse(value ?? '') ?? undefined };
  } catch (error) {
    throw wrongUsage(
      `the value of ${path} is no YAML: ${error instanceof Error ? error.message.split('\n', 1)[0] : error}`,
    );
  }
}

const pathOf = (path: string): string[] => (path.startsWith('/') ? segmentsOf(path) : path.split('.'));

function carryOut(entity: Record<string, unknown>, { path, value }: Edit): void {
  let owner: Record<string, unknown> = entity;
  for (const segment of path.slice(0, -1)) {
    const inner = Object.hasOwn(owner, segment) ? owner[segment] : undefined;
    if (typeof inner === 'object' && inner !== null) owner = inner as Record<string, unknown>;
    else {
      // Where the field around it is not there, nothing is to be removed.
      if (value === undefined) return;
      const fresh = {};
      define(owner, segment, fresh);
      owner = fresh;
    }
  }
  const last = path.at(-1) ?? '';
  if (value !== undefined) define(owner, last, value);
  else if (Array.isArray(owner)) owner.splice(placeIn(owner, last, owner.length - 1), 1);
  else delete owner[last];
}

function define(owner: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') throw wrongUsage('__proto__ is no field');
  if (Array.isArray(owner)) owner[placeIn(owner, key, owner.length)] = value;
  else owner[key] = value;
}

function placeIn({ length }: readonly unknown[], key: string, max: number): number {
  if (!/^\d+$/.test(key) || Number(key) > max) throw wrongUsage(`${key} is no place of a list of ${length}`);
  return Number(key);
}
