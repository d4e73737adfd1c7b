// Artefacts of `npm run package` in out/: files and directories by their names.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

export const packages = {
  version,
  folder: join(root, 'out'),
  /** Path of an executable; `target` as the packager names it. */
  executable: (target: string): string => join(root, 'out', `sluice-${version}-${target}`),
  image: join(root, 'out', `sluice-${version}.oci`),
};
