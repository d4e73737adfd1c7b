// Middleware type headers: changes to request and response headers (contract.md §8.3).
import { headersDefaults } from '../defaults.ts';
import { Cel, Flag, Line, ListOf, Token } from '../field.ts';
import { token } from '../scalar.ts';

class HeaderEdit {
  @Token('Header name. `Host` in a request changes the upstream host.', { required: true, example: 'x-region' })
  readonly key!: string;

  @Line('Header value; `${request.host}` and the like are filled in.', { required: true, example: 'eu' })
  readonly value!: string;

  @Flag('Add another field line. False: replace what is there.', { default: headersDefaults.append })
  readonly append?: boolean;

  @Flag('Fill in `${…}` in this value. false: send it as it is written. Absent: as the whole block says.')
  readonly interpolate?: boolean;
}

export class HeaderToAdd extends HeaderEdit {
  @Cel('request', 'bool', 'Condition over `request`, as it comes to this middleware. Absent: always.', {
    example: '!("x-region" in request.headers)',
  })
  readonly when?: string;
}

export class ResponseHeaderToAdd extends HeaderEdit {
  @Cel('response', 'bool', 'Condition over `response.status` and `request`. Absent: always.', {
    example: 'response.status >= 500',
  })
  readonly when?: string;
}

export class HeadersConfig {
  @ListOf(HeaderToAdd, 'Set on the request, first.')
  readonly requestHeadersToAdd?: readonly HeaderToAdd[];

  @ListOf(token, 'Removed from the request, second.')
  readonly requestHeadersToRemove?: readonly string[];

  @ListOf(ResponseHeaderToAdd, 'Set on the response just before its headers are sent.')
  readonly responseHeadersToAdd?: readonly ResponseHeaderToAdd[];

  @ListOf(token, 'Removed from the response after that.')
  readonly responseHeadersToRemove?: readonly string[];

  @Flag('Fill in `${…}` in values. false: send them as they are written.', { default: headersDefaults.interpolate })
  readonly interpolate?: boolean;
}
