// Importer of one program: a parser into statements, and a mapper of them into the intermediate form.
import type { InputFile } from '../input/input-files.ts';
import type { Ledger } from './import-ledger.ts';
import type { ImportedConfig } from './intermediate.ts';
import type { Statement } from './statement.ts';

export interface Importer {
  /** Returns the roots of the statements. Throws a failure that names the place of what cannot be read. */
  parse(files: readonly InputFile[]): readonly Statement[];
  map(roots: readonly Statement[], ledger: Ledger): ImportedConfig;
}
