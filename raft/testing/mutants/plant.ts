// Loaded before anything else (`node --import`): plants the bug that RAFT_MUTANT names into the modules of raft/.
import { plant } from './planting.ts';
import { foundOnce, mutants, ofRules } from './table.ts';

plant([...mutants, ...ofRules, ...foundOnce], process.env.RAFT_MUTANT, new URL('../../', import.meta.url).href);
