// Native code of LevelDB in the executable: the system loads code from files alone, so it is unpacked, loaded and removed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { assetBytes } from './assets.ts';

const key = 'sluice:unpack-directories';

/** Directories to try, in this order, between the runtime directory of the service and that of temporary files. */
const unpackDirectories = () => (getEnvironmentData(key) ?? []) as readonly string[];

/** Adds a directory to try. Threads that start later try it too: each script of the executable has a copy of this module. */
export function mayUnpackIn(directory: string): void {
  setEnvironmentData(key, [...unpackDirectories(), directory]);
}

/** Returns the exports of the addon. Throws with each directory and why it did not serve. */
export function loadAddon(): unknown {
  const bytes = assetBytes('classic-level.node');
  const problems: string[] = [];
  // systemd may give several, separated by colons.
  const runtime = process.env.RUNTIME_DIRECTORY?.split(':') ?? [];
  for (const directory of [...runtime, ...unpackDirectories(), tmpdir()]) {
    try {
      return loadFrom(directory, bytes);
    } catch (error) {
      problems.push(`${directory}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(
    'the code of the store could be unpacked and run in no directory; RUNTIME_DIRECTORY, controlPlane.storePath or TMPDIR ' +
      `has to allow it (${problems.join('; ')})`,
  );
}

function loadFrom(parent: string, bytes: Uint8Array): unknown {
  const directory = mkdtempSync(join(parent, '.sluice-'));
  try {
    const file = join(directory, 'classic-level.node');
    writeFileSync(file, bytes, { flag: 'wx', mode: 0o500 });
    const module = { exports: {} };
    process.dlopen(module, file);
    return module.exports;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
