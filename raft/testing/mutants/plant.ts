// Loaded before anything else (`node --import`): plants the bug that RAFT_MUTANT names into the modules of raft/.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { applyEdit, foundOnce, mutants, ofRules } from './table.ts';

const name = process.env.RAFT_MUTANT;
const mutant = [...mutants, ...ofRules, ...foundOnce].find((each) => each.name === name);
if (mutant === undefined) throw new Error(`there is no mutant "${name}"`);

const root = new URL('../../', import.meta.url).href;

registerHooks({
  load(url, context, nextLoad) {
    const edits = mutant.edits.filter(({ file }) => url === root + file);
    if (edits.length === 0) return nextLoad(url, context);
    const source = edits.reduce(applyEdit, readFileSync(fileURLToPath(url), 'utf8'));
    return { format: 'module-typescript', source, shortCircuit: true };
  },
});
