import { describeRows } from '../../support/entities.ts';

describeRows('snapshots (contract.md §2.10)', 'snapshots', [
  ['a name', { name: 's' }],
  ['a missing name', {}, ['/name']],
  ['an id of any kind, which is ignored', { name: 's', id: 5, createdAt: 'x', snapshot: 1 }],
]);
