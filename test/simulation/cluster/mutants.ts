// `npm run simulate:cluster-mutants -- [--seeds N] [--only text] [--jobs J]`: the bugs that are planted above raft.
import { fileURLToPath } from 'node:url';
import { hunt } from '../../../raft/testing/commands/hunt.ts';
import { furtherMutants, mutants } from './mutant-table.ts';

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

await hunt({
  file: import.meta.url,
  names: [...mutants, ...furtherMutants].map(({ name }) => name),
  args: ['--import', pathOf('../../support/decorators.mjs'), '--import', pathOf('./plant.ts'), pathOf('./simulate.ts')],
  variable: 'CLUSTER_MUTANT',
});
