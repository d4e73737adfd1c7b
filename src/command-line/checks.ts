// Parts of the client that load the model or CEL: loaded by the commands that need them, and by no other.
export { importFiles } from './import/importers.ts';
export { readEntities } from './input/input-entities.ts';
export { checkOffline, checkSettings, lintOffline } from './offline/offline-check.ts';
export { readCases, runCases } from './offline/route-cases.ts';
export { evaluatorOf } from './output/item-expression.ts';
export { changesTo, planOf } from './plan/plan.ts';
