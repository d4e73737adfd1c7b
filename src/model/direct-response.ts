// A fixed response: of a route, or of a share of its requests (contract.md §2.4.6).
import { BodyFrom } from './body-from.ts';
import { atMostOneOf, has } from './constraint.ts';
import { Line, ListOf, Nested, Text, Token, Uint } from './field.ts';
import { problemIf, Rules } from './rule.ts';

/** Fields of a response that its connection writes, or that have a field of their own. */
const reservedNames: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

@Rules<ResponseHeader>({
  isNotReserved: ({ key = '' }) => {
    const why = key.toLowerCase() === 'content-type' ? 'must not be Content-Type: set contentType' : 'is set by Sluice';
    return problemIf(reservedNames.has(key.toLowerCase()), '/key', why);
  },
})
export class ResponseHeader {
  @Token('Header name.', { required: true, example: 'cache-control' })
  readonly key!: string;

  @Line('Header value, sent as it is written.', { required: true, example: 'max-age=60' })
  readonly value!: string;
}

@Rules<DirectResponse>(
  {
    oneBody: ({ body, bodyFrom }) =>
      problemIf(body !== undefined && bodyFrom !== undefined, '/bodyFrom', 'must not stand beside body'),
  },
  atMostOneOf(has('body'), has('bodyFrom')),
)
export class DirectResponse {
  @Uint('Status of the response.', { required: true, min: 200, max: 599, example: 503 })
  readonly status!: number;

  @Text('Body. Absent: empty.')
  readonly body?: string;

  @Nested(
    BodyFrom,
    'Stored body in place of `body`. With status 200 the response has an `ETag`, and a request whose `If-None-Match` names it gets 304.',
  )
  readonly bodyFrom?: BodyFrom;

  @ListOf(ResponseHeader, 'Fields of the response, in this order; one name may repeat.')
  readonly headers?: readonly ResponseHeader[];

  @Line('Value of `Content-Type`. Absent: found from the body.', { example: 'text/html; charset=utf-8' })
  readonly contentType?: string;
}
