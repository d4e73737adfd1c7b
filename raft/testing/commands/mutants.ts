// `npm run simulate:mutants -- [--seeds N] [--only text] [--jobs J]`: the bugs that are planted into raft.
import { fileURLToPath } from 'node:url';
import { foundOnce, mutants, ofRules } from '../mutants/table.ts';
import { hunt } from './hunt.ts';

const simulate = fileURLToPath(new URL('./simulate.ts', import.meta.url));
const plant = fileURLToPath(new URL('../mutants/plant.ts', import.meta.url));

await hunt({
  file: import.meta.url,
  names: [...mutants, ...ofRules, ...foundOnce].map(({ name }) => name),
  args: ['--import', plant, simulate],
  variable: 'RAFT_MUTANT',
});
