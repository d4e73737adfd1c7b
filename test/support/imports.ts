// Files of other programs that importers are tested with, by program.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from '../../src/command-line/import/programs.ts';
import type { InputFile } from '../../src/command-line/input/input-files.ts';

const folder = join(import.meta.dirname, 'imports');

/** Paths of the files of a program. */
export const importPaths = (program: Program): string[] =>
  readdirSync(join(folder, program))
    .sort()
    .map((name) => join(folder, program, name));

export const readImport = (path: string): InputFile => ({ name: path, text: readFileSync(path, 'utf8') });
