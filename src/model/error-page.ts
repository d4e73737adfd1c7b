// An error page: the body of errors with some statuses, of a listener or a route (contract.md §9.1).
import { BodyFrom } from './body-from.ts';
import { Flag, Line, ListOf, Nested } from './field.ts';
import { errorStatusRange } from './scalar.ts';

export class ErrorPage {
  @ListOf(errorStatusRange, 'Statuses, 400 to 599, each alone or as a range.', {
    required: true,
    lengthMin: 1,
    example: ['502-504'],
  })
  readonly statuses!: readonly string[];

  @Nested(
    BodyFrom,
    'Body. `${status}`, `${error}`, `${request.host}`, `${request.method}` and `${request.path}` are filled in, escaped for HTML and JSON; every other `${…}` stays.',
    { required: true },
  )
  readonly bodyFrom!: BodyFrom;

  @Line('Value of `Content-Type`. Absent: found from the body.', { example: 'text/html; charset=utf-8' })
  readonly contentType?: string;

  @Flag('Responses of the upstream with these statuses get the body too.', { default: false })
  readonly upstream?: boolean;
}
