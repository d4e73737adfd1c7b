// Coders of content codings, from node:zlib: their work runs on threads of libuv's pool. Windows are small, because each
// body under way has one.
import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliCompress,
  createBrotliDecompress,
  createGunzip,
  createGzip,
  createZstdCompress,
  createZstdDecompress,
} from 'node:zlib';
import type { CompressAlgorithm } from '../../../model/middleware/compress-options.ts';

/** Stream of zlib. `flush` makes all that was written readable at the other end. */
export type Coder = Transform & { flush(kind: number, done: () => void): void };

export interface Coding {
  encoder(level: number): Coder;
  decoder(): Coder;
  /** Kind of flush after which the receiver can decode all bytes so far. */
  readonly flushKind: number;
}

/** Base-2 logarithm of the window of an encoder. */
const windowBits = 18;
/** The same of a decoder of Zstandard: what every decoder has to support (RFC 8878 §3.1.1.1.2). */
const decodedWindowBits = 23;

const {
  BROTLI_PARAM_QUALITY,
  BROTLI_PARAM_LGWIN,
  BROTLI_OPERATION_FLUSH,
  ZSTD_c_compressionLevel,
  ZSTD_c_windowLog,
  ZSTD_d_windowLogMax,
  ZSTD_e_flush,
  Z_SYNC_FLUSH,
} = constants;

export const codings: Readonly<Record<CompressAlgorithm, Coding>> = {
  gzip: {
    encoder: (level) => createGzip({ level }),
    decoder: () => createGunzip(),
    flushKind: Z_SYNC_FLUSH,
  },
  br: {
    encoder: (level) =>
      createBrotliCompress({ params: { [BROTLI_PARAM_QUALITY]: level, [BROTLI_PARAM_LGWIN]: windowBits } }),
    decoder: () => createBrotliDecompress(),
    flushKind: BROTLI_OPERATION_FLUSH,
  },
  zstd: {
    encoder: (level) =>
      createZstdCompress({ params: { [ZSTD_c_compressionLevel]: level, [ZSTD_c_windowLog]: windowBits } }),
    decoder: () => createZstdDecompress({ params: { [ZSTD_d_windowLogMax]: decodedWindowBits } }),
    flushKind: ZSTD_e_flush,
  },
};
