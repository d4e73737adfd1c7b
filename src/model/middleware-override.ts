// Overrides: what one route or group changes about a middleware (contract.md §2.6).
import { atMostOneOf, hasSome } from './constraint.ts';
import { Flag, ListOf, Nested } from './field.ts';
import { ExtProcPhases } from './middleware/ext-proc-options.ts';
import { HeadersConfig } from './middleware/headers-options.ts';
import { Closed, problemIf, Rules } from './rule.ts';
import { cel } from './scalar.ts';

const conditionsMax = 256;

export class ExtProcOverride {
  @Nested(ExtProcPhases, 'Takes the place of the phases of the middleware.')
  readonly phases?: ExtProcPhases;

  @Flag('Takes the place of allowOnError of the middleware.')
  readonly allowOnError?: boolean;
}

@Closed()
@Rules<MiddlewareOverride>(
  {
    skipOrOnly: ({ skipWhen = [], onlyWhen = [] }) =>
      problemIf(skipWhen.length > 0 && onlyWhen.length > 0, '/onlyWhen', 'must not stand beside skipWhen'),
  },
  atMostOneOf(hasSome('skipWhen'), hasSome('onlyWhen')),
)
export class MiddlewareOverride {
  @Flag('Leave the middleware out.', { default: false })
  readonly disabled?: boolean;

  @ListOf(cel('request'), 'Skip the middleware when any of these conditions over `request` is true.', {
    lengthMax: conditionsMax,
  })
  readonly skipWhen?: readonly string[];

  @ListOf(cel('request'), 'Run the middleware only when at least one of these conditions over `request` is true.', {
    lengthMax: conditionsMax,
  })
  readonly onlyWhen?: readonly string[];

  @Nested(HeadersConfig, 'Takes the place of the whole `headers` block; only for type headers.')
  readonly headers?: HeadersConfig;

  @Nested(ExtProcOverride, 'Changes to a middleware of type extProc.')
  readonly extProc?: ExtProcOverride;
}
