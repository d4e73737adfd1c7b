// Middleware type accessLog: a line per request, per response or both (contract.md §8.7).
import { accessLogDefaults } from '../defaults.ts';
import { Flag, LogPath, MapOf, Nested } from '../field.ts';
import { pointerOf } from '../problem.ts';
import { problemIf, Rules } from '../rule.ts';
import { textOrEmpty } from '../scalar.ts';

/** A name stands before `=` in a line: what ends a name or a value there would make two fields of one. */
const isName = (name: string): boolean => !/[\s="'\p{Cc}\u2028\u2029]/u.test(name);

@Rules<AccessLogLine>({
  namesArePlain: ({ fields = {} }) =>
    Object.keys(fields).flatMap((name) =>
      problemIf(
        !isName(name),
        pointerOf('fields', name),
        'must have a name without blanks, =, quotes and control characters',
      ),
    ),
})
export class AccessLogLine {
  @MapOf(
    textOrEmpty,
    'Templates by key, in the order of the line. No key has blanks, `=`, quotes or control characters.',
    { example: { path: '${request.path}' } },
  )
  readonly fields?: Readonly<Record<string, string>>;
}

export class AccessLogConfig {
  @LogPath(
    '`stdout`, `stderr`, or the absolute path of a file to append to, below a directory of `proxy.accessLogDirectories`.',
    { required: true, example: 'stdout' },
  )
  readonly path!: string;

  @Flag('One JSON object a line. False: key=value pairs.', { default: accessLogDefaults.json })
  readonly json?: boolean;

  @Nested(AccessLogLine, 'Line written when a request arrives. Absent: none.')
  readonly onRequest?: AccessLogLine;

  @Nested(AccessLogLine, 'Line written when a response is complete. Absent: none.')
  readonly onResponse?: AccessLogLine;
}
