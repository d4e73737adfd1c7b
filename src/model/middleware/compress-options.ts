// Middleware type compress: content codings of responses, and their removal from requests (contract.md §8.9).
import { compressDefaults } from '../defaults.ts';
import { ListOf, Nested, OneOf, Uint } from '../field.ts';
import { mediaRange, oneOf } from '../scalar.ts';

export type CompressAlgorithm = (typeof compressDefaults.algorithms)[number];

export class CompressLevels {
  @Uint('Level of gzip.', { default: compressDefaults.levels.gzip, min: 1, max: 9 })
  readonly gzip?: number;

  @Uint('Quality of Brotli.', { default: compressDefaults.levels.br, min: 0, max: 11 })
  readonly br?: number;

  @Uint('Level of Zstandard.', { default: compressDefaults.levels.zstd, min: 1, max: 19 })
  readonly zstd?: number;
}

export class DecompressRequest {
  @Uint('Most bytes of plain content for each byte received. More is answered 413.', {
    default: compressDefaults.decompressRequest.maxRatio,
    min: 1,
  })
  readonly maxRatio?: number;

  @Uint('Most bytes of plain content. More is answered 413.', {
    default: compressDefaults.decompressRequest.maxBytes,
    min: 1,
  })
  readonly maxBytes?: number;
}

export class CompressConfig {
  @ListOf(
    oneOf(compressDefaults.algorithms),
    'Codings to use. Among those that a client likes alike, the first is taken.',
    {
      default: [...compressDefaults.algorithms],
      lengthMin: 1,
      distinct: true,
    },
  )
  readonly algorithms?: readonly CompressAlgorithm[];

  @Uint('Length below which a response stays as it is. Unknown lengths are compressed.', {
    default: compressDefaults.minBytes,
  })
  readonly minBytes?: number;

  @ListOf(mediaRange, 'Media types to compress: exact, `type/*` or `*/*`.', {
    default: [...compressDefaults.types],
    lengthMax: 256,
  })
  readonly types?: readonly string[];

  @Nested(CompressLevels, 'Levels by coding.', { absentIsEmpty: true })
  readonly levels?: CompressLevels;

  @OneOf(['keep', 'strip'], '`strip`: upstreams get no Accept-Encoding, so that they answer plain content.', {
    default: compressDefaults.upstreamAcceptEncoding,
  })
  readonly upstreamAcceptEncoding?: 'keep' | 'strip';

  @Nested(DecompressRequest, 'Decode bodies of requests before they go on. Absent: they go on as they are.')
  readonly decompressRequest?: DecompressRequest;
}
