// Comparison of the response of a mirror with the response to the request itself (contract.md §2.4.2, §7.13).
import { routeDefaults } from './defaults.ts';
import { ByteSize, Flag, ListOf, OneOf, Uint } from './field.ts';
import { jsonPointer, token } from './scalar.ts';

export const comparedBodies = ['json', 'bytes', 'none'] as const;

const defaults = routeDefaults.mirrorCompare;
const maxBytesMax = 1 << 20;

export class MirrorCompare {
  @Flag('Compare the statuses.', { default: defaults.status })
  readonly status?: boolean;

  @ListOf(token, 'Names of the response fields that are compared.', { lengthMax: 32, default: defaults.headers })
  readonly headers?: readonly string[];

  @OneOf(comparedBodies, 'json: by structure where both bodies are JSON, else by their bytes. none: not compared.', {
    default: defaults.body,
  })
  readonly body?: (typeof comparedBodies)[number];

  @ListOf(jsonPointer, 'JSON pointers of values that may differ; a segment `*` stands for any name or index.', {
    lengthMax: 64,
  })
  readonly ignore?: readonly string[];

  @ByteSize('Bytes of each body that are kept, up to 1MiB. Longer bodies are compared by length and SHA-256.', {
    max: maxBytesMax,
    default: defaults.maxBytes,
  })
  readonly maxBytes?: string;

  @Flag('Measure the time to the response head, mirror minus primary.', { default: defaults.latency })
  readonly latency?: boolean;

  @Uint('Share of the copies that is compared, in percent.', { max: 100, default: defaults.sample })
  readonly sample?: number;
}
