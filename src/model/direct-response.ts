// A fixed response: of a route, or of a share of its requests (contract.md §2.4.6).
import { Text, Uint } from './field.ts';

export class DirectResponse {
  @Uint('Status of the response.', { required: true, min: 200, max: 599, example: 503 })
  readonly status!: number;

  @Text('Body. Absent: empty.')
  readonly body?: string;
}
