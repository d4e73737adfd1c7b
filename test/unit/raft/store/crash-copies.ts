// Crash copies: the directory as a process leaves it when it ends at once, copied before the first and after each
// operation that it carries out on real files: markers, checkpoint files and the log alike.
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';

export interface CrashCopy {
  readonly directory: string;
  /** The operation before it. */
  readonly operation: string;
  /** Notes that `run` had made by then. */
  readonly told: readonly string[];
}

type Method = (...args: unknown[]) => Promise<unknown>;

const { cp, mkdtemp, open, rm } = promises;

/**
 * Copies the directory while `run` works. `tell` notes a fact that outsiders may rely on from then on. The copies are
 * gone when `use` has ended.
 */
export async function withCrashCopies(
  directory: string,
  run: (tell: (what: string) => void) => Promise<void>,
  use: (copies: readonly CrashCopy[]) => Promise<void>,
): Promise<void> {
  const parent = await mkdtemp(join(tmpdir(), 'raft-crash-'));
  try {
    await use(await record(directory, parent, run));
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

async function record(
  directory: string,
  parent: string,
  run: (tell: (what: string) => void) => Promise<void>,
): Promise<CrashCopy[]> {
  const copies: CrashCopy[] = [];
  const told: string[] = [];
  let copying = Promise.resolve();
  const copy = (operation: string) => {
    const target = join(parent, String(copies.length));
    copies.push({ directory: target, operation, told: [...told] });
    copying = copying.then(() => cp(directory, target, { recursive: true }));
    return copying;
  };
  await copy('nothing');
  const restore = await watchOperations(copy);
  try {
    await run((what) => told.push(what));
  } finally {
    restore();
  }
  await copying;
  await copy('everything');
  return copies;
}

/** Delays each operation's answer until its copy is made. */
async function watchOperations(copy: (operation: string) => Promise<void>): Promise<() => void> {
  const handle = await open(tmpdir(), 'r');
  const handles = Object.getPrototypeOf(handle);
  await handle.close();
  const restores = [
    ...['open', 'mkdir', 'rename', 'rm', 'truncate'].map((name) => watch(promises, name, copy)),
    ...['write', 'writev', 'writeFile', 'sync'].map((name) => watch(handles, name, copy)),
    watch(ClassicLevel.prototype, 'batch', copy),
    watch(ClassicLevel.prototype, 'open', copy),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const restore of restores) restore();
    syncBuiltinESMExports();
  };
}

function watch(owner: object, name: string, copy: (operation: string) => Promise<void>): () => void {
  const original = Object.getOwnPropertyDescriptor(owner, name);
  const method: Method = Reflect.get(owner, name);
  Object.defineProperty(owner, name, {
    configurable: true,
    writable: true,
    value: async function (this: unknown, ...args: unknown[]) {
      const result = await method.apply(this, args);
      await copy(name);
      return result;
    },
  });
  return () => {
    if (original === undefined) Reflect.deleteProperty(owner, name);
    else Object.defineProperty(owner, name, original);
  };
}
