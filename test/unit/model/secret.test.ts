import { describeRows } from '../../support/entities.ts';

describeRows('secrets (contract.md §2.8, §2.11)', 'secrets', [
  ['a name and a value', { name: 's', value: ' x\n' }],
  ['a missing value', { name: 's' }, ['/value']],
  ['an empty value', { name: 's', value: '' }, ['/value']],
]);
