// `secret …`: values come from standard input or a file, never from the arguments, which others can see.

import type { BatchAnswer } from '../../model/answers/batch-answers.ts';
import { command } from '../command-declaration.ts';
import type { Session } from '../command-session.ts';
import type { Api } from '../connection/api-client.ts';
import { readText } from '../connection/credentials.ts';
import { type Entity, listEntities } from '../entities.ts';
import { exitCodes, failed } from '../exit.ts';
import { unknownName } from '../kind-names.ts';
import { show } from '../output/form.ts';
import { referringToSecret } from '../plan/secret-references.ts';

const file = {
  kind: 'text',
  alias: 'f',
  value: 'FILE',
  brief: 'File with the value; default: standard input',
} as const;
const owner = { kind: 'text', value: 'NAME', brief: 'Owner of the secret' } as const;

export const secretSet = command({
  words: 'secret set',
  brief: 'Create or replace a secret',
  text: 'The value is taken as it stands, without one line break at its end. Resources refer to it by `{{secret:value:<id>}}`.',
  arguments: [{ name: 'NAME', brief: 'Name of the secret' }],
  flags: { file, owner },
  examples: [{ line: 'pass show shop/tls | sluice secret set shop-tls', does: 'writes what another program prints' }],
  run: async (session, [name = ''], flags) => await write(session, name, flags, false),
});

export const secretRotate = command({
  words: 'secret rotate',
  brief: 'Replace the value of a secret and say what refers to it',
  text: 'Proxies get the new value with the next snapshot: `sluice snapshot create`, `sluice activate`.',
  arguments: [{ name: 'NAME', brief: 'Name or id' }],
  flags: { file },
  async run(session, [name = ''], flags) {
    const api = await session.api();
    const secret = await secretNamed(api, name);
    const code = await write(session, secret.name, { ...flags, owner: undefined }, true);
    const referring = await referringToSecret(api, secret.id);
    session.terminal.note(referring.length === 0 ? 'nothing refers to it' : `used by   ${referring.join(', ')}`);
    if (referring.length > 0)
      session.terminal.note('proxies get it with the next snapshot: sluice snapshot create, sluice activate');
    return code;
  },
});

/** Finds a secret by its id, or else by its name. */
async function secretNamed(api: Api, name: string): Promise<Entity> {
  const known = await listEntities(api, 'secrets');
  const secret = known.find(({ id }) => id === name) ?? known.find((each) => each.name === name);
  if (secret !== undefined) return secret;
  throw unknownName(
    'secrets',
    name,
    known.map((each) => each.name),
  );
}

interface Source {
  readonly file: string | undefined;
  readonly owner: string | undefined;
}

async function write(session: Session, name: string, source: Source, mustExist: boolean): Promise<number> {
  const value = await secretValue(session, source.file);
  const api = await session.api();
  const known = await listEntities(api, 'secrets');
  const before = known.find((each) => each.name === name);
  // The id is what resources refer to: the name where it may be one.
  const mayBeId = /^[A-Za-z0-9._~:-]{1,128}$/.test(name) && !known.some(({ id }) => id === name);
  const id = before?.id ?? (mayBeId ? name : undefined);
  const body = {
    ...(id !== undefined && { id }),
    name,
    value,
    ...(source.owner !== undefined && { owner: source.owner }),
  };
  const operation = { op: mustExist ? 'update' : 'upsert', kind: 'secrets', by: 'name', body };
  session.underWay = 'the secret may have been written; nothing is live by it';
  const { body: answer } = await api.ask<BatchAnswer>('POST', '/batch', { json: { operations: [operation] } });
  const [result] = answer.results;
  session.terminal.note(result?.changed === false ? 'no change' : `secret    ${name}: {{secret:value:${result?.id}}}`);
  return exitCodes.done;
}

async function secretValue({ terminal }: Session, source: string | undefined): Promise<string> {
  if (source === undefined && process.stdin.isTTY) terminal.hint('the value, then Ctrl-D:');
  const text = await readText(source ?? '-', source ?? 'standard input');
  const value = text.replace(/\r?\n$/, '');
  if (value === '') throw failed('the value of a secret must not be empty');
  return value;
}

export const secretList = command({
  words: 'secret list',
  brief: 'List secrets, without their values',
  hasForms: true,
  async run(session) {
    const items = await listEntities(await session.api(), 'secrets');
    await show<Entity>(session.terminal, session.form, {
      items,
      columns: [
        { title: 'name', cell: ({ name }) => name },
        { title: 'owner', cell: (secret) => secret.owner ?? '' },
        { title: 'reference', cell: ({ id }) => `{{secret:value:${id}}}` },
      ],
      nameOf: ({ name }) => `secrets/${name}`,
      empty: 'no secrets',
    });
    return exitCodes.done;
  },
});

export const secretDelete = command({
  words: 'secret delete',
  brief: 'Delete a secret that nothing refers to',
  arguments: [{ name: 'NAME', brief: 'Name or id' }],
  async run(session, [name = '']) {
    const api = await session.api();
    const secret = await secretNamed(api, name);
    const referring = await referringToSecret(api, secret.id);
    if (referring.length > 0) throw failed(`nothing was deleted: ${referring.length} resources refer to it`, referring);
    await api.ask('DELETE', `/secrets/${encodeURIComponent(secret.id)}`);
    session.terminal.note(`deleted   secrets/${secret.name}`);
    return exitCodes.done;
  },
});
