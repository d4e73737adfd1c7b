// Middleware type compress (contract.md §8.9): responses leave in a coding that the client accepts, and bodies of requests
// come in plain where it says so. Coders run on libuv's thread pool, never in the worker's turn.
import { compressDefaults } from '../../model/defaults.ts';
import type { CompressAlgorithm, CompressConfig } from '../../model/middleware/compress-options.ts';
import type { LocalReply, MiddlewareExchange, MiddlewarePhases, MiddlewareResult } from '../exchange/phase.ts';
import { withoutLength } from '../exchange/response-body.ts';
import { type ChooseCoding, compileChoice } from './compress/accept-encoding.ts';
import { CodedBody, type CodingRefusal } from './compress/coded-body.ts';
import { codings } from './compress/coder.ts';
import { type DecoderMemory, decoderMemoryOf, type HeldMemory } from './compress/decoder-memory.ts';
import { EncoderPool } from './compress/encoder-pool.ts';
import {
  compileRules,
  forbidsTransforming,
  type IsCompressible,
  setCoding,
  varyByCoding,
  weakenConfirmedTag,
} from './compress/response-rules.ts';
import type { DryRun } from './dry-run.ts';
import { onePerWorker } from './instances.ts';
import { PoolTurns } from './pool-turns.ts';
import { rejection } from './rejection.ts';
import type { TemplateRequest } from './request-template.ts';
import type { MiddlewareServices } from './services.ts';

/** Threads of libuv's pool that coders of one process occupy at most: half of the smallest pool. */
const poolThreadsMax = 8;
/** Responses of one process that are compressed at a time; further ones stay plain. A coder holds up to 1 MiB. */
const bodiesMax = 1024;
/** Bytes that decoders of requests of one process hold, where all its workers have room for one of any window. */
const decoderBytesMax = 256 * 1024 * 1024;

type Services = Pick<MiddlewareServices, 'share'>;

interface Shared {
  readonly bodiesMax: number;
  /** Responses that are compressed. */
  bodies: number;
  readonly turns: PoolTurns;
  readonly encoders: EncoderPool;
  readonly decoderMemory: DecoderMemory;
}

const sharedOf = onePerWorker(
  ({ share }: Services): Shared => ({
    bodiesMax: Math.max(1, share(bodiesMax)),
    bodies: 0,
    turns: new PoolTurns(Math.max(1, share(poolThreadsMax))),
    encoders: new EncoderPool(),
    decoderMemory: decoderMemoryOf(share(decoderBytesMax)),
  }),
);

interface Plan {
  readonly choose: ChooseCoding;
  readonly isCompressible: IsCompressible;
  readonly levels: Readonly<Record<CompressAlgorithm, number>>;
  readonly strips: boolean;
  /** Bounds of decoded requests; undefined: they go on as they are. */
  readonly decoded: { readonly maxRatio: number; readonly maxBytes: number } | undefined;
}

export function buildCompress(config: CompressConfig): {
  readonly dryRun: DryRun;
  readonly run: (services: Services) => MiddlewarePhases;
} {
  const { algorithms = compressDefaults.algorithms, decompressRequest } = config;
  const plan: Plan = {
    choose: compileChoice(algorithms),
    isCompressible: compileRules(config),
    levels: { ...compressDefaults.levels, ...config.levels },
    strips: (config.upstreamAcceptEncoding ?? compressDefaults.upstreamAcceptEncoding) === 'strip',
    decoded: decompressRequest && { ...compressDefaults.decompressRequest, ...decompressRequest },
  };
  return { dryRun: dryRunOf(plan), run: (services) => new Compress(plan, services) };
}

/** State of one exchange. */
interface Compression {
  readonly coding: CompressAlgorithm | undefined;
  request?: CodedBody;
  memory?: HeldMemory;
  response?: CodedBody;
}

class Compress implements MiddlewarePhases {
  readonly #plan: Plan;
  readonly #shared: Shared;

  constructor(plan: Plan, services: Services) {
    this.#plan = plan;
    this.#shared = sharedOf(services);
  }

  onRequest(exchange: MiddlewareExchange, slot: number): MiddlewareResult {
    const { request } = exchange;
    const { choose, strips, decoded } = this.#plan;
    const coding = forbidsTransforming(request.header('cache-control'))
      ? undefined
      : choose(request.header('accept-encoding'));
    const compression: Compression = { coding };
    exchange.state[slot] = compression;
    if (strips) exchange.removeRequestField('Accept-Encoding');
    return decoded === undefined ? undefined : this.#decode(exchange, compression, decoded);
  }

  onResponse(exchange: MiddlewareExchange, slot: number): MiddlewareResult {
    const { response, request } = exchange;
    if (response.status === 304) {
      weakenConfirmedTag(response, request.header('if-none-match'));
      varyByCoding(response);
      return undefined;
    }
    if (!this.#plan.isCompressible(response, request.method)) return undefined;
    varyByCoding(response);
    const compression = compressionOf(exchange, slot);
    if (compression?.coding !== undefined) this.#encode(exchange, compression, compression.coding);
    return undefined;
  }

  onFinish(exchange: MiddlewareExchange, slot: number): void {
    const compression = compressionOf(exchange, slot);
    compression?.request?.close();
    compression?.memory?.release();
    if (compression?.response === undefined) return;
    const { response, coding = '' } = compression;
    exchange.tally(slot, 'compressedResponses', coding, 1);
    exchange.tally(slot, 'compressInputBytes', coding, response.received);
    exchange.tally(slot, 'compressOutputBytes', coding, response.produced);
    response.close();
    this.#shared.bodies--;
  }

  #encode(exchange: MiddlewareExchange, compression: Compression, coding: CompressAlgorithm): void {
    const { response, request } = exchange;
    if (request.method === 'HEAD') {
      setCoding(response, coding);
      withoutLength(response);
      return;
    }
    if (this.#shared.bodies >= this.#shared.bodiesMax) return;
    setCoding(response, coding);
    const { flushKind } = codings[coding];
    const arrivesInParts = response.bodyKind === 'stream';
    const flushes = arrivesInParts || response.header('content-type')?.startsWith('text/event-stream') === true;
    exchange.wrapResponseBody((source) => {
      this.#shared.bodies++;
      compression.response = new CodedBody({
        source,
        open: () => this.#shared.encoders.take(coding, this.#plan.levels[coding]),
        turns: this.#shared.turns,
        flushKind: flushes ? flushKind : undefined,
        onProgress: () => exchange.flushResponse(),
        onRefused: () => exchange.interrupt(failed),
      });
      return compression.response;
    });
  }

  #decode(
    exchange: MiddlewareExchange,
    compression: Compression,
    { maxRatio, maxBytes }: NonNullable<Plan['decoded']>,
  ): LocalReply | undefined {
    const { request } = exchange;
    const coding = codingOf(request);
    if (coding === undefined || request.bodyKind === 'none') return undefined;
    if (coding === 'unknown') return unsupported;
    const { decoder, decoderBytesMax: windowMax } = codings[coding];
    const memory = this.#shared.decoderMemory.take(windowMax);
    if (memory === undefined) return busy;
    compression.memory = memory;
    let bytes = 0;
    exchange.removeRequestField('Content-Encoding');
    exchange.wrapRequestBody((source) => {
      compression.request = new CodedBody({
        source,
        open: () => ({ coder: decoder(), finishKind: undefined, release: () => {} }),
        turns: this.#shared.turns,
        flushKind: undefined,
        onProgress: () => {},
        growth: (more, received) => {
          bytes += more;
          if (bytes > maxBytes || bytes > received * maxRatio) return 'too large';
          return memory.grow(more) ? undefined : 'busy';
        },
        onRefused: (why) => exchange.interrupt(refusals[why]),
      });
      return compression.request;
    });
    return undefined;
  }
}

const compressionOf = ({ state }: MiddlewareExchange, slot: number): Compression | undefined =>
  state[slot] as Compression | undefined;

/** Coding of a request's body; undefined when it is plain. */
function codingOf(request: TemplateRequest): CompressAlgorithm | 'unknown' | undefined {
  const field = request.header('content-encoding')?.trim().toLowerCase();
  if (field === undefined || field === 'identity') return undefined;
  const name = field === 'x-gzip' ? 'gzip' : field;
  return compressDefaults.algorithms.find((algorithm) => algorithm === name) ?? 'unknown';
}

const failed = rejection(500, 'compression failed');
const malformed = rejection(400, 'malformed request body');
const tooLarge = rejection(413, 'request body too large');
const busy = rejection(503, 'too many request bodies to decode', ['Retry-After', '1']);
const refusals: Readonly<Record<CodingRefusal, LocalReply>> = { malformed, 'too large': tooLarge, busy };
const unsupported = rejection(415, 'unsupported content encoding', [
  'Accept-Encoding',
  compressDefaults.algorithms.join(', '),
]);

const dryRunOf =
  ({ strips, decoded }: Plan): DryRun =>
  (request) => {
    const coding = decoded && codingOf(request);
    if (coding === 'unknown') return { answers: unsupported.status };
    const names = [...(strips ? ['Accept-Encoding'] : []), ...(coding === undefined ? [] : ['Content-Encoding'])];
    return { changes: names.map((name) => ({ name, value: null, append: false })) };
  };
