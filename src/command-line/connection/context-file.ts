// Contexts: named clusters with their servers, certificates and keys, in a file of the user (docs/cli.md).
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { failed } from '../exit.ts';

export interface ConnectionContext {
  readonly name: string;
  readonly servers: readonly string[];
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly apiKeyFile?: string | undefined;
  /** Command of the shell that prints the key. */
  readonly keyCommand?: string | undefined;
}

export interface Contexts {
  readonly current?: string;
  readonly contexts: readonly ConnectionContext[];
}

/** `$XDG_CONFIG_HOME/sluice/contexts.yaml`, else below `~/.config`. */
export const contextsFile = (): string =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'sluice', 'contexts.yaml');

/** Reads the file; no contexts where there is none. A file that holds keys and that others can read is refused. */
export async function readContexts(): Promise<Contexts> {
  const file = contextsFile();
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { contexts: [] };
    throw failed(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
  const contexts = checked(await parsed(text, file), file);
  const mode = statSync(file).mode & 0o777;
  if ((mode & 0o077) !== 0 && contexts.contexts.some(({ apiKey }) => apiKey !== undefined))
    throw failed(`${file} holds an API key and others can read it (mode ${mode.toString(8)}): chmod 600 ${file}`);
  return contexts;
}

/** Writes the file as a whole, for its owner alone. */
export function writeContexts(contexts: Contexts): void {
  const file = contextsFile();
  const fresh = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // JSON is YAML, and is read without the library for YAML.
    writeFileSync(fresh, `${JSON.stringify(contexts, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(fresh, file);
  } catch (error) {
    throw failed(`cannot write ${file}: ${error instanceof Error ? error.message : error}`);
  }
}

export function contextNamed({ contexts }: Contexts, name: string): ConnectionContext {
  const found = contexts.find((each) => each.name === name);
  if (found !== undefined) return found;
  const known = contexts.map((each) => each.name).join(', ');
  throw failed(`no context ${name} in ${contextsFile()}${known === '' ? '' : ` (it has ${known})`}`);
}

async function parsed(text: string, file: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    const { parse } = await import('../yaml-library.ts');
    try {
      return parse(text);
    } catch (error) {
      throw failed(`${file} is no YAML: ${error instanceof Error ? error.message.split('\n', 1)[0] : error}`);
    }
  }
}

const texts = ['ca', 'cert', 'key', 'apiKey', 'apiKeyFile', 'keyCommand'] as const;
const known = new Set<string>(['name', 'servers', ...texts]);

function checked(value: unknown, file: string): Contexts {
  const wrong = (what: string) => failed(`${file}: ${what}`);
  if (value === null || value === undefined) return { contexts: [] };
  if (!isMap(value)) throw wrong('must be a map with contexts');
  const { current, contexts = [] } = value;
  if (current !== undefined && typeof current !== 'string') throw wrong('current must be the name of a context');
  if (!Array.isArray(contexts)) throw wrong('contexts must be a list');
  for (const [at, each] of contexts.entries()) {
    if (!isMap(each) || typeof each.name !== 'string') throw wrong(`contexts[${at}].name must be a text`);
    const { servers } = each;
    if (!Array.isArray(servers) || servers.length === 0 || servers.some((url) => typeof url !== 'string'))
      throw wrong(`contexts[${at}].servers must be a list of URLs`);
    for (const name of texts)
      if (each[name] !== undefined && typeof each[name] !== 'string')
        throw wrong(`contexts[${at}].${name} must be a text`);
    const unknown = Object.keys(each).find((name) => !known.has(name));
    if (unknown !== undefined) throw wrong(`contexts[${at}].${unknown} is not a known field`);
  }
  return value as unknown as Contexts;
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
