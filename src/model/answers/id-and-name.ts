// Entity by id and name, where its kind is clear.
import { text } from '../json-type.ts';
import { Required } from '../property.ts';

export class IdAndName {
  @Required(text, 'Id.')
  readonly id!: string;

  @Required(text, 'Name.')
  readonly name!: string;
}
