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
export type Coder = Transform & {
  /** Bytes of the input that it has read. */
  readonly bytesWritten: number;
  flush(kind: number, done: () => void): void;
  /** Makes it as it was before the first body; gzip alone has it. */
  reset?(): void;
};

export interface Coding {
  encoder(level: number): Coder;
  decoder(): Coder;
  /** Kind of flush after which the receiver can decode all bytes so far. */
  readonly flushKind: number;
  /** Use of one encoder for several bodies; undefined: Brotli forgets its quality with a reset. */
  readonly reuse: EncoderReuse | undefined;
  /** Bytes that a decoder holds at most, which grow with what it has produced. */
  readonly decoderBytesMax: number;
}

/** Coder for one body. */
export interface BodyCoder {
  readonly coder: Coder;
  /** Kind of flush that completes the body; undefined: the coder ends. */
  readonly finishKind: number | undefined;
  /** Called when the body is complete and all of it has been read. */
  readonly release: () => void;
}

interface EncoderReuse {
  /** Kind of flush that completes a body. */
  readonly finishKind: number;
  /** Prepares the encoder for the next body. */
  prepare(encoder: Coder): void;
}

/** Base-2 logarithm of the window of an encoder. */
const windowBits = 18;
/** The same of a decoder of Zstandard: what every decoder has to support (RFC 8878 §3.1.1.1.2). */
const decodedWindowBits = 23;
/** The same of Brotli: what every decoder has to support (RFC 7932 §9.1). */
const brotliWindowBitsMax = 24;

const {
  BROTLI_PARAM_QUALITY,
  BROTLI_PARAM_LGWIN,
  BROTLI_OPERATION_FLUSH,
  ZSTD_c_compressionLevel,
  ZSTD_c_windowLog,
  ZSTD_d_windowLogMax,
  ZSTD_e_end,
  ZSTD_e_flush,
  Z_FINISH,
  Z_SYNC_FLUSH,
} = constants;

export const codings: Readonly<Record<CompressAlgorithm, Coding>> = {
  gzip: {
    encoder: (level) => createGzip({ level }),
    decoder: () => createGunzip(),
    flushKind: Z_SYNC_FLUSH,
    reuse: { finishKind: Z_FINISH, prepare: (encoder) => encoder.reset?.() },
    decoderBytesMax: 2 ** 15,
  },
  br: {
    encoder: (level) =>
      createBrotliCompress({ params: { [BROTLI_PARAM_QUALITY]: level, [BROTLI_PARAM_LGWIN]: windowBits } }),
    decoder: () => createBrotliDecompress(),
    flushKind: BROTLI_OPERATION_FLUSH,
    reuse: undefined,
    decoderBytesMax: 2 ** brotliWindowBitsMax,
  },
  zstd: {
    encoder: (level) =>
      createZstdCompress({ params: { [ZSTD_c_compressionLevel]: level, [ZSTD_c_windowLog]: windowBits } }),
    decoder: () => createZstdDecompress({ params: { [ZSTD_d_windowLogMax]: decodedWindowBits } }),
    flushKind: ZSTD_e_flush,
    // A frame that has ended leaves nothing to the next one (zstd.h, ZSTD_e_end).
    reuse: { finishKind: ZSTD_e_end, prepare: () => {} },
    decoderBytesMax: 2 ** decodedWindowBits,
  },
};
