// `export`: the configuration as files that `apply` takes.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EditableKind, editableKinds } from '../../model/kinds.ts';
import { command } from '../command-declaration.ts';
import type { Entity } from '../entities.ts';
import { failed } from '../exit.ts';
import { countOf } from '../input/fault.ts';
import { escapeVariables } from '../input/variables.ts';
import { yamlOf } from '../output/form.ts';
import { type ClusterState, stateNamed } from '../plan/cluster-state.ts';
import { withNames } from '../plan/names.ts';

export const exportCommand = command({
  words: 'export',
  brief: 'Print the configuration as apply takes it',
  text: `References are names. Secrets are not part of it: texts keep their references to them. \`--split\` writes one file for each
kind into a folder.`,
  flags: {
    owner: { kind: 'text', value: 'NAME', brief: 'What this owner has' },
    from: { kind: 'text', value: 'STATE', brief: 'staged (default), active, or a snapshot' },
    split: {
      kind: 'text',
      value: 'FOLDER',
      mayBeEmpty: true,
      brief: 'Write a file for each kind; default: this folder',
    },
  },
  hasForms: true,
  examples: [
    { line: 'sluice export > backup.yaml', does: 'writes all that is staged into one file' },
    { line: 'sluice export --owner team-shop --split conf', does: 'writes what team-shop has into the folder conf' },
  ],
  async run(session, _, { owner, from = 'staged', split }) {
    const api = await session.api();
    const state = await stateNamed(api, from);
    const lists = exportedOf(state, owner);
    const asJson = session.form.is === 'json';
    const text = asJson ? async (value: Lists) => `${JSON.stringify(value, undefined, 2)}\n` : yamlInParts;
    const top: Lists = owner === undefined ? {} : { owner };
    if (split === undefined) {
      session.terminal.write(await text({ ...top, ...Object.fromEntries(lists) }));
      return undefined;
    }
    const folder = split === '' ? '.' : split;
    const extension = asJson ? 'json' : 'yaml';
    for (const [kind, entities] of lists) {
      const file = join(folder, `${kind}.${extension}`);
      write(folder, file, await text({ ...top, [kind]: entities }));
      session.terminal.note(`${file}  ${countOf(entities.length, 'resource')}`);
    }
    const written = new Set(lists.map(([kind]) => kind));
    for (const kind of editableKinds) {
      const file = join(folder, `${kind}.${extension}`);
      if (!written.has(kind) && existsSync(file))
        session.terminal.warn(`${file} is of an earlier export: there are no ${kind} now, and it was left as it is`);
    }
    return undefined;
  },
});

type Lists = Readonly<Record<string, string | readonly object[]>>;

/** Resources between two texts of YAML: all at once would be a tree of a million nodes. */
const stride = 1000;

async function yamlInParts(value: Lists): Promise<string> {
  const parts: string[] = [];
  for (const [key, list] of Object.entries(value)) {
    if (typeof list === 'string' || list.length === 0) parts.push(await yamlOf({ [key]: list }));
    else
      for (let at = 0; at < list.length; at += stride) {
        const part = await yamlOf({ [key]: list.slice(at, at + stride) });
        // Only the first one says the key.
        parts.push(at === 0 ? part : part.slice(part.indexOf('\n') + 1));
      }
  }
  return parts.length === 0 ? '{}\n' : parts.join('');
}

/** Resources kind by kind, those of the owner alone where one is given; kinds without any are left out. */
export function exportedOf(state: ClusterState, owner: string | undefined): [EditableKind, object[]][] {
  return editableKinds.flatMap((kind): [EditableKind, object[]][] => {
    const own = (state.entities[kind] ?? []).filter((entity) => owner === undefined || entity.owner === owner);
    return own.length === 0 ? [] : [[kind, own.map((entity) => shown(withNames(kind, entity, state), owner))]];
  });
}

/** An id that is the name, and the owner that stands at the top, need not be said. */
function shown({ id, owner, ...rest }: Entity, top: string | undefined): object {
  const fields = { ...(id !== rest.name && { id }), ...(owner !== undefined && owner !== top && { owner }), ...rest };
  return escaped(fields) as object;
}

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return escapeVariables(value);
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, escaped(each)]));
}

function write(folder: string, file: string, text: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
  } catch (error) {
    throw failed(`cannot write ${file}: ${error instanceof Error ? error.message : error}`);
  }
}
