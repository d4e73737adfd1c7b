// API keys: from a file, the environment, the context, or the command of a password manager that the context names.
import { readFileSync } from 'node:fs';
import { CommandFailure, failed } from '../exit.ts';
import { readStandardInput } from '../standard-input.ts';
import type { ConnectionContext } from './context-file.ts';

const keyCommandMs = 30_000;

/** Resolves with the key, or undefined for servers without keys. A key never comes from the arguments: others can see them. */
export async function apiKeyOf(
  file: string | undefined,
  context: ConnectionContext | undefined,
): Promise<string | undefined> {
  if (file !== undefined) return firstLine(await readText(file), `the file ${file}`);
  const { SLUICE_API_KEY: fromEnvironment } = process.env;
  if (fromEnvironment) return fromEnvironment;
  if (context?.keyCommand !== undefined) return await keyFrom(context.keyCommand, context.name);
  if (context?.apiKeyFile !== undefined)
    return firstLine(await readText(context.apiKeyFile), `the file ${context.apiKeyFile}`);
  return context?.apiKey || undefined;
}

/** Resolves with the text of a file; `-` is standard input. `name`: the file in messages. */
export async function readText(file: string, name = file): Promise<string> {
  try {
    return (file === '-' ? await readStandardInput() : readFileSync(file)).toString();
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw failed(`cannot read ${name}: ${error instanceof Error ? error.message : error}`);
  }
}

async function keyFrom(command: string, context: string): Promise<string> {
  const { runInShell } = await import('../shell-command.ts');
  const stdio = ['inherit', 'pipe', 'pipe'] as const;
  const { failure, stdout, stderr } = await runInShell(command, { stdio: [...stdio], withinMs: keyCommandMs });
  if (failure !== undefined)
    throw failed(
      `keyCommand of context ${context} failed: ${stderr.trim() === '' ? failure : `${stderr.trim()} (${failure})`}`,
    );
  return firstLine(stdout, `keyCommand of context ${context}`);
}

function firstLine(text: string, source: string): string {
  const line = text.split('\n', 1)[0]?.trim() ?? '';
  if (line === '') throw failed(`${source} holds no API key in its first line`);
  return line;
}
