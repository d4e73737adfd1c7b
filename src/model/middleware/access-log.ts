// Middleware type accessLog: a line per request, per response or both (contract.md §8.7).
import { accessLogDefaults } from '../defaults.ts';
import { Flag, MapOf, Nested, Text } from '../field.ts';
import { textOrEmpty } from '../scalar.ts';

export class AccessLogLine {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how templates are written
  @MapOf(textOrEmpty, 'Templates by key, in the order of the line.', { example: { path: '${request.path}' } })
  readonly fields?: Readonly<Record<string, string>>;
}

export class AccessLogConfig {
  @Text('`stdout`, `stderr`, or a file to append to.', { required: true, example: 'stdout' })
  readonly path!: string;

  @Flag('One JSON object a line. False: key=value pairs.', { default: accessLogDefaults.json })
  readonly json?: boolean;

  @Nested(AccessLogLine, 'Line written when a request arrives. Absent: none.')
  readonly onRequest?: AccessLogLine;

  @Nested(AccessLogLine, 'Line written when a response is complete. Absent: none.')
  readonly onResponse?: AccessLogLine;
}
