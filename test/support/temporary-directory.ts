// Directories that go when the test ends.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class TemporaryDirectories {
  readonly #made: string[] = [];

  async make(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'sluice-test-'));
    this.#made.push(directory);
    return directory;
  }

  async removeAll(): Promise<void> {
    for (const directory of this.#made.splice(0)) await rm(directory, { recursive: true, force: true });
  }
}
