// A secret: a value that other resources take in by `{{secret:value:<id>}}` (contract.md §2.8, §2.9).
import { Entity } from './entity.ts';
import { Text } from './field.ts';

export class Secret extends Entity {
  static readonly summary = 'Values that `{{secret:…}}` stands for.';

  static readonly example = { id: 'greeting', name: 'greeting', value: 'change-me' };

  @Text('The value. Never in lists nor in the answers of create and update.', { required: true })
  readonly value!: string;
}
