// API keys: from a file, the environment, the context, or the command of a password manager that the context names.
import { readFileSync } from 'node:fs';
import { failed } from '../exit.ts';
import type { ConnectionContext } from './context-file.ts';

const keyCommandMs = 30_000;

/** Resolves with the key, or undefined for servers without keys. A key never comes from the arguments: others can see them. */
export async function apiKeyOf(
  file: string | undefined,
  context: ConnectionContext | undefined,
): Promise<string | undefined> {
  if (file !== undefined) return firstLine(readText(file === '-' ? 0 : file, file), `the file ${file}`);
  const { SLUICE_API_KEY: fromEnvironment } = process.env;
  if (fromEnvironment) return fromEnvironment;
  if (context?.keyCommand !== undefined) return await keyFrom(context.keyCommand, context.name);
  if (context?.apiKeyFile !== undefined)
    return firstLine(readText(context.apiKeyFile, context.apiKeyFile), `the file ${context.apiKeyFile}`);
  return context?.apiKey;
}

export function readText(file: string | number, name: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw failed(`cannot read ${name}: ${error instanceof Error ? error.message : error}`);
  }
}

async function keyFrom(command: string, context: string): Promise<string> {
  const { spawnSync } = await import('node:child_process');
  const { status, stdout, stderr, error } = spawnSync('/bin/sh', ['-c', command], {
    encoding: 'utf8',
    timeout: keyCommandMs,
    stdio: ['inherit', 'pipe', 'pipe'],
  });
  if (status !== 0) {
    const why = error?.message ?? (stderr.trim() || `exit code ${status}`);
    throw failed(`keyCommand of context ${context} failed: ${why}`);
  }
  return firstLine(stdout, `keyCommand of context ${context}`);
}

function firstLine(text: string, source: string): string {
  const line = text.split('\n', 1)[0]?.trim() ?? '';
  if (line === '') throw failed(`${source} holds no API key in its first line`);
  return line;
}
