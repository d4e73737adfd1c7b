// Reads what `{{secret:env:…}}` and `{{secret:file:…}}` refer to on this node, inside the fences of its settings
// (architecture.md §6.18, security.md S24).
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import type { SecretReference } from '../../model/secret-reference.ts';

/** Fences; an absent list means any, an empty one none. */
export interface SecretFences {
  /** Variable names, `*` at the end for any rest. */
  readonly env?: readonly string[];
  /** Directories, compared by real path. */
  readonly files?: readonly string[];
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** A value, or why there is none; the reason never holds a value. */
export type Resolution = { readonly value: string } | { readonly reason: string };

/** No certificate bundle is larger; /dev/zero is. */
const largestFile = 1024 * 1024;

export class SecretSources {
  readonly #environment: Environment;
  readonly #fences: SecretFences;

  constructor({ environment, fences }: { environment: Environment; fences: SecretFences }) {
    this.#environment = environment;
    this.#fences = fences;
  }

  /** Resolves an `env` or `file` reference on this node. Never rejects. */
  async resolve({ source, argument }: SecretReference): Promise<Resolution> {
    return source === 'env' ? this.#variable(argument) : await this.#file(argument);
  }

  #variable(name: string): Resolution {
    const allowed = this.#fences.env?.some((pattern) => matches(pattern, name)) ?? true;
    if (!allowed) return { reason: 'is not among controlPlane.secretSources.env' };
    const value = Object.hasOwn(this.#environment, name) ? this.#environment[name] : undefined;
    return value === undefined || value === '' ? { reason: 'is unset or empty' } : { value };
  }

  async #file(path: string): Promise<Resolution> {
    try {
      const real = await realpath(path);
      if (!(await this.#isInside(real))) return { reason: 'is outside controlPlane.secretSources.files' };
      // The real path has no link left to follow; without O_NONBLOCK a pipe would hold a thread for ever.
      const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      return await contentOf(file).finally(() => file.close());
    } catch {
      // Which of missing, forbidden and not a file it was would tell an API client about the node's disk.
      return { reason: 'is not readable' };
    }
  }

  async #isInside(real: string): Promise<boolean> {
    const directories = this.#fences.files;
    if (directories === undefined) return true;
    const roots = await Promise.all(directories.map((directory) => realpath(directory).catch(() => undefined)));
    return roots.some((root) => root !== undefined && real.startsWith(root.endsWith(sep) ? root : root + sep));
  }
}

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

// What a file says of its size is not believed: files of /proc have none.
async function contentOf(file: FileHandle): Promise<Resolution> {
  if (!(await file.stat()).isFile()) return { reason: 'is not readable' };
  const buffer = Buffer.alloc(largestFile + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < buffer.length; length += read) {
    ({ bytesRead: read } = await file.read(buffer, length, buffer.length - length));
  }
  if (length > largestFile) return { reason: `is larger than ${largestFile} bytes` };
  return { value: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(buffer.subarray(0, length)) };
}
