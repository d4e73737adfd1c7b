// Environment variables and files of this node, behind the fences of architecture.md §6.18. Made in main.ts; everything
// that touches the machine comes in from there.
import type { SecretFence } from '../settings/control-plane-settings.ts';
import { isBelow } from '../util/inside.ts';

/** A value, or why there is none. The reason never holds what was read. */
export type SourceValue =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'missing'; readonly why: string };

export const readAs = (value: string): SourceValue => ({ kind: 'value', value });
export const missingFor = (why: string): SourceValue => ({ kind: 'missing', why });

export interface SecretSources {
  env(name: string): SourceValue;
  file(path: string): Promise<SourceValue>;
  /** Content of a file of `bodyFrom`. */
  body(path: string): Promise<SourceValue>;
}

export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Resolves symbolic links; rejects when there is nothing. */
  realpath(path: string): Promise<string>;
  /** Content of a regular file; rejects for everything else, and above `maxBytes`. */
  readFile(path: string, maxBytes: number): Promise<Uint8Array>;
}

export const secretFileBytesMax = 1024 * 1024;

export function createSecretSources(
  machine: Machine,
  fence: SecretFence,
  bodies: { read(path: string): Promise<SourceValue> },
): SecretSources {
  return {
    env: (name) => readVariable(machine, fence, name),
    file: (path) => readSecretFile(machine, fence, path),
    body: (path) => bodies.read(path),
  };
}

function readVariable({ env }: Machine, fence: SecretFence, name: string): SourceValue {
  if (fence.env !== undefined && !fence.env.some((pattern) => matches(pattern, name))) {
    return missingFor(`environment variable "${name}" is not allowed by controlPlane.secretSources`);
  }
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return value ? readAs(value) : missingFor(`environment variable "${name}" is unset or empty`);
}

/** Outside of the fence the answer is the same whether there is a file or not. */
async function readSecretFile(machine: Machine, fence: SecretFence, path: string): Promise<SourceValue> {
  const outside = fence.files === undefined ? '' : ' or is not allowed by controlPlane.secretSources';
  const missing = missingFor(`file "${path}" cannot be read${outside}`);
  try {
    const real = await machine.realpath(path);
    if (fence.files !== undefined && !(await isInside(machine, fence.files, real))) return missing;
    const content = await machine.readFile(real, secretFileBytesMax);
    return readAs(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content));
  } catch {
    return missing;
  }
}

async function isInside(machine: Machine, directories: readonly string[], real: string): Promise<boolean> {
  for (const directory of directories) {
    const base = await machine.realpath(directory).catch(() => undefined);
    if (base !== undefined && isBelow(base, real)) return true;
  }
  return false;
}

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
