// A stored body: text, the value of a secret, or a file that a capture reads (contract.md §2.4.6).
import { exactlyOneOf, has } from './constraint.ts';
import { BodyPath, SecretId, Text } from './field.ts';
import { problemIf, Rules } from './rule.ts';

/** Largest stored body, in bytes of UTF-8. */
export const storedBodyBytesMax = 1024 * 1024;

const sources = ['text', 'secret', 'file'] as const;

@Rules<BodyFrom>(
  {
    exactlyOneSource: (from) => {
      const present = sources.filter((name) => from[name] !== undefined);
      if (present.length === 0) return problemIf(true, '', 'must have one of text, secret, file');
      return problemIf(present.length > 1, `/${present[1]}`, `must not stand beside ${present[0]}`);
    },
    isBounded: ({ text = '' }) =>
      problemIf(Buffer.byteLength(text) > storedBodyBytesMax, '/text', `must be at most ${storedBodyBytesMax} bytes`),
  },
  exactlyOneOf(has('text'), has('secret'), has('file')),
)
export class BodyFrom {
  @Text('The body itself, at most 1 MiB. A proxy gets every stored body so.')
  readonly text?: string;

  @SecretId('Id of a secret whose value is the body. It is captured in snapshots, as references to secrets are.')
  readonly secret?: string;

  @BodyPath(
    'Absolute path of a file of UTF-8 text below a directory of `proxy.bodyDirectories`, read when a snapshot is captured, by the node that captures it. Needs the role admin.',
    { example: '/etc/sluice/bodies/maintenance.html' },
  )
  readonly file?: string;
}
