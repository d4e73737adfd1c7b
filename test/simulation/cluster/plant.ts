// Loaded before anything else (`node --import`): plants the bug that CLUSTER_MUTANT names into the modules of src/.
import { plant } from '../../../raft/testing/mutants/planting.ts';
import { furtherMutants, mutants } from './mutant-table.ts';

plant([...mutants, ...furtherMutants], process.env.CLUSTER_MUTANT, new URL('../../../', import.meta.url).href);
