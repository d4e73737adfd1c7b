// Plants a bug: from now on the modules that it edits are loaded with it.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { applyEdit, type Mutant } from './table.ts';

/** `root`: URL of the folder that the files of the edits are below, with a slash at its end. */
export function plant(mutants: readonly Mutant[], name: string | undefined, root: string): void {
  const mutant = mutants.find((each) => each.name === name);
  if (mutant === undefined) throw new Error(`there is no mutant "${name}"`);
  registerHooks({
    load(url, context, nextLoad) {
      const edits = mutant.edits.filter(({ file }) => url === root + file);
      if (edits.length === 0) return nextLoad(url, context);
      const source = edits.reduce(applyEdit, readFileSync(fileURLToPath(url), 'utf8'));
      return { format: 'module-typescript', source, shortCircuit: true };
    },
  });
}
