// Body of the deletion of a resource, which may be left out.
import { Text } from './field.ts';

export class DeletionRequest {
  @Text('Owner that the resource has: no warning then that another one maintains it.')
  readonly owner?: string;
}
