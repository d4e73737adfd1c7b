// Answers that are no success, and the plainest success.
import { count, list, object, oneOf, text } from '../json-type.ts';
import { Component, Optional, Required } from '../property.ts';
import { Finding } from './finding-answers.ts';

@Component('Every answer that is not a success.', { as: 'Error' })
export class ErrorAnswer {
  @Required(text, 'What is wrong, for a person.', { example: 'route "a" not found' })
  readonly error!: string;

  @Optional(text, 'Names the write whose outcome is unknown (504).')
  readonly requestId?: string;

  @Optional(oneOf(['not-applied', 'unknown']), 'What is certain of a write that got no result (503, 504).')
  readonly outcome?: 'not-applied' | 'unknown';

  @Optional(count, 'Of a refused batch: the first operation that failed.')
  readonly operation?: number;

  @Optional(list(object(Finding)), 'What `failOn` refuses (422).')
  readonly findings?: readonly Finding[];
}

@Component('Ok, and nothing else.')
export class Health {
  @Required(oneOf(['ok']), 'Always `ok`.')
  readonly status!: 'ok';
}
