// Flags that commands share: of the connection, the form of the output and the terminal.
import type { Command, Flag } from './command-declaration.ts';
import { formNames } from './output/form.ts';

export const connectionFlags = {
  server: { kind: 'texts', value: 'URL', brief: 'Any node of the cluster; several are tried in turn' },
  context: { kind: 'text', value: 'NAME', brief: 'Context of the file of contexts' },
  apiKeyFile: { kind: 'text', value: 'FILE', brief: 'File whose first line is the API key; - is standard input' },
  ca: { kind: 'text', value: 'FILE', brief: 'Certificates of the authorities that servers are verified by' },
  cert: { kind: 'text', value: 'FILE', brief: 'Client certificate' },
  key: { kind: 'text', value: 'FILE', brief: 'Key of the client certificate' },
  timeout: { kind: 'text', value: 'DURATION', brief: 'Time for an answer; default 60s' },
} as const satisfies Readonly<Record<string, Flag>>;

export const formFlags = {
  output: { kind: 'text', alias: 'o', value: 'FORM', brief: formNames.join(', ') },
} as const satisfies Readonly<Record<string, Flag>>;

export const terminalFlags = {
  noColor: { kind: 'switch', brief: 'No colour; NO_COLOR in the environment does the same' },
  quiet: { kind: 'switch', alias: 'q', brief: 'No progress' },
  verbose: { kind: 'switch', alias: 'v', brief: 'Each request on standard error' },
  yes: { kind: 'switch', brief: 'Answer each question with yes' },
} as const satisfies Readonly<Record<string, Flag>>;

export const globalFlags = { ...connectionFlags, ...formFlags, ...terminalFlags };

/** Returns all flags that a command takes; its own replace shared ones of the same name or letter. */
export function flagsOf({ flags = {} }: Command): Readonly<Record<string, Flag>> {
  const letters = new Set(Object.values(flags).flatMap(({ alias }) => alias ?? []));
  const shared = Object.entries<Flag>(globalFlags).map(([name, flag]): [string, Flag] => {
    const { alias, ...rest } = flag;
    return [name, alias !== undefined && letters.has(alias) ? (rest as Flag) : flag];
  });
  return { ...Object.fromEntries(shared), ...flags };
}

/** `apiKeyFile` is `--api-key-file`. */
export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
