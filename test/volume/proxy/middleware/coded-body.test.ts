// Coded bodies between a source and a sink in memory: work on the loop by turn, encoders that serve several bodies, and the
// memory of decoders.
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import type { CompressAlgorithm } from '../../../../src/model/middleware/compress-options.ts';
import type { LocalReply, MiddlewareExchange } from '../../../../src/proxy/exchange/phase.ts';
import type { BodySink, BodySource } from '../../../../src/proxy/message/body.ts';
import { CodedBody } from '../../../../src/proxy/middleware/compress/coded-body.ts';
import { type Coder, codings } from '../../../../src/proxy/middleware/compress/coder.ts';
import { DecoderMemory, decoderMemoryOf } from '../../../../src/proxy/middleware/compress/decoder-memory.ts';
import { EncoderPool } from '../../../../src/proxy/middleware/compress/encoder-pool.ts';
import { buildCompress } from '../../../../src/proxy/middleware/compress.ts';
import { PoolTurns } from '../../../../src/proxy/middleware/pool-turns.ts';
import { eventually } from '../../../support/eventually.ts';
import { StubExchange } from '../../../support/stub-exchange.ts';

/** Source that delivers its chunks as they are asked for. */
class Chunks implements BodySource {
  readonly #chunks: Buffer[];
  #sink: BodySink | undefined;
  #isPaused = false;

  constructor(...chunks: Buffer[]) {
    this.#chunks = chunks;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    this.resume();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    while (!this.#isPaused) {
      const chunk = this.#chunks.shift();
      if (chunk === undefined) {
        this.#isPaused = true;
        this.#sink?.end('');
      } else if (this.#sink?.data(chunk) === false) this.#isPaused = true;
    }
  }

  abort(): void {
    this.#chunks.length = 0;
  }
}

/** Sink that keeps what it gets. */
class Kept implements BodySink {
  readonly chunks: Buffer[] = [];
  isEnded = false;
  /** Called with each chunk; the result is that of `data`. */
  onChunk: (chunk: Buffer) => boolean = () => true;

  from(): void {}

  data(chunk: Buffer): boolean {
    this.chunks.push(Buffer.from(chunk));
    return this.onChunk(chunk);
  }

  end(): void {
    this.isEnded = true;
  }

  fail(): void {}

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }
}

const decoders = { gzip: gunzipSync, zstd: zstdDecompressSync } as const;

describe('coded bodies', () => {
  const encoded = (pool: EncoderPool, algorithm: CompressAlgorithm, turns: PoolTurns, source: BodySource) => {
    const opened: Coder[] = [];
    const body = new CodedBody({
      source,
      open: () => {
        const taken = pool.take(algorithm, 1);
        opened.push(taken.coder);
        return taken;
      },
      turns,
      flushKind: undefined,
      onProgress: () => {},
      onRefused: () => {},
    });
    return { body, opened };
  };

  for (const isDecoding of [false, true])
    it(`${isDecoding ? 'decoding' : 'encoding'} of many streams hands on a bounded number of bytes by turn of the loop`, async () => {
      const turns = new PoolTurns(2);
      const pool = new EncoderPool();
      const plain = randomBytes(256 * 1024);
      const sinks = Array.from({ length: 40 }, () => new Kept());
      let inTurn = 0;
      let most = 0;
      for (const sink of sinks) {
        sink.onChunk = ({ length }) => {
          inTurn += length;
          most = Math.max(most, inTurn);
          return true;
        };
        const source = new Chunks(isDecoding ? gzipSync(plain, { level: 1 }) : plain);
        const body = isDecoding
          ? new CodedBody({
              source,
              open: () => ({ coder: codings.gzip.decoder(), finishKind: undefined, release: () => {} }),
              turns,
              flushKind: undefined,
              onProgress: () => {},
              growth: () => undefined,
              onRefused: () => {},
            })
          : encoded(pool, 'gzip', turns, source).body;
        body.start(sink);
      }
      while (sinks.some(({ isEnded }) => !isEnded)) {
        await nextTurn();
        inTurn = 0;
      }
      for (const { bytes } of sinks) expect((isDecoding ? bytes : gunzipSync(bytes)).equals(plain)).to.equal(true);
      // Two turns on the pool, each with one chunk of the coder.
      expect(most).to.be.within(1, 2 * 16 * 1024);
    });

  for (const algorithm of ['gzip', 'zstd'] as const) {
    it(`${algorithm}: one encoder serves one body after the other, each whole`, async () => {
      const pool = new EncoderPool();
      const used = new Set<unknown>();
      for (const text of ['first '.repeat(9000), '', 'second '.repeat(20_000), 'x']) {
        const sink = new Kept();
        const { body, opened } = encoded(pool, algorithm, new PoolTurns(1), new Chunks(Buffer.from(text)));
        body.start(sink);
        await eventually(() => expect(sink.isEnded).to.equal(true));
        expect(decoders[algorithm](sink.bytes).toString()).to.equal(text);
        body.close();
        for (const coder of opened) used.add(coder);
      }
      expect(used.size).to.equal(1);
      expect(pool.idle).to.equal(1);
    });

    it(`${algorithm}: a sink that takes one chunk at a time gets all of it before the end`, async () => {
      const pool = new EncoderPool();
      const plain = randomBytes(300_000);
      const sink = new Kept();
      const { body } = encoded(pool, algorithm, new PoolTurns(1), new Chunks(plain.subarray(0, 9), plain.subarray(9)));
      sink.onChunk = () => {
        setImmediate(() => body.resume());
        return false;
      };
      body.start(sink);
      await eventually(() => expect(sink.isEnded).to.equal(true));
      expect(decoders[algorithm](sink.bytes).equals(plain)).to.equal(true);
      expect(pool.idle).to.equal(1);
    });
  }

  it('an encoder whose body was broken off serves no other', async () => {
    const pool = new EncoderPool();
    const sink = new Kept();
    const { body, opened } = encoded(pool, 'gzip', new PoolTurns(1), new Chunks(randomBytes(900_000)));
    body.start(sink);
    await eventually(() => expect(sink.chunks).to.not.be.empty);
    body.close();
    expect(opened.map(({ destroyed }) => destroyed)).to.deep.equal([true]);
    expect(pool.idle).to.equal(0);
  });

  it('no more than eight encoders of a coding and a level wait', async () => {
    const pool = new EncoderPool();
    const sinks = Array.from({ length: 20 }, () => new Kept());
    for (const sink of sinks) encoded(pool, 'gzip', new PoolTurns(1), new Chunks(Buffer.from('a'))).body.start(sink);
    await eventually(() => expect(sinks.every(({ isEnded }) => isEnded)).to.equal(true));
    expect(pool.idle).to.equal(8);
  });

  it('bodies that wait for a turn hold no encoder, and the last step needs no further turn', async () => {
    const [pool, turns] = [new EncoderPool(), new PoolTurns(1)];
    const sinks = Array.from({ length: 20 }, () => new Kept());
    const used = new Set<Coder>();
    const opened = sinks.map((sink) => {
      const made = encoded(pool, 'gzip', turns, new Chunks(Buffer.from('a'.repeat(9000))));
      made.body.start(sink);
      return made.opened;
    });
    expect(opened.flat()).to.have.length(1);
    await eventually(() => expect(sinks.every(({ isEnded }) => isEnded)).to.equal(true));
    for (const coder of opened.flat()) used.add(coder);
    expect(used.size).to.equal(1);
  });
});

describe('memory of decoders', () => {
  it('is bounded over all of them, and given back once', () => {
    const memory = new DecoderMemory(300 * 1024);
    const [first, second] = [memory.take(2 ** 20), memory.take(32 * 1024)];
    expect(first?.grow(100 * 1024)).to.equal(true);
    expect(first?.grow(80 * 1024)).to.equal(false);
    // A window that is full grows no more.
    expect(second?.grow(32 * 1024)).to.equal(true);
    expect(second?.grow(2 ** 30)).to.equal(true);
    expect(memory.take(1)).to.equal(undefined);
    second?.release();
    second?.release();
    expect([memory.take(1), memory.take(1)]).to.not.include(undefined);
    expect(memory.take(1)).to.equal(undefined);
  });

  it('has room for one decoder of the largest window, however many workers share that of the process', () => {
    const memory = decoderMemoryOf((256 * 1024 * 1024) / 64);
    expect(memory.take(2 ** 24)?.grow(2 ** 30)).to.equal(true);
    expect(memory.take(2 ** 15)).to.equal(undefined);
  });

  it('of slow clients whose few bytes make windows of megabytes is bounded: further bodies are 503', async () => {
    const budget = 20 * 1024 * 1024;
    const compress = buildCompress({ decompressRequest: { maxRatio: 1_000_000, maxBytes: 2 ** 30 } }).run({
      share: (count) => (count === 256 * 1024 * 1024 ? budget : count),
    });
    /** All but the end of a body of 8 MiB in a few hundred bytes. */
    const bomb = zstdCompressSync(Buffer.alloc(8 * 1024 * 1024 - 70_000)).subarray(0, -3);
    const opened = () => {
      const stub = new StubExchange({ method: 'POST', fields: ['Content-Encoding', 'zstd'] });
      Object.assign(stub.request, { bodyKind: 'stream' });
      const sink = new Kept();
      const held: { reply?: LocalReply } = {};
      const exchange = Object.assign(stub, {
        wrapRequestBody(wrap: (source: BodySource) => BodySource) {
          const body = wrap({ start: (to) => void to.data(bomb), pause() {}, resume() {}, abort() {} });
          body.start(sink);
        },
        interrupt(reply: LocalReply) {
          held.reply = reply;
        },
      });
      const reply = compress.onRequest?.(exchange as unknown as MiddlewareExchange, 0) as LocalReply | undefined;
      if (reply !== undefined) held.reply = reply;
      return { held, end: () => compress.onFinish?.(exchange as unknown as MiddlewareExchange, 0) };
    };
    const all = Array.from({ length: 6 }, opened);
    const refused = () => all.filter(({ held }) => held.reply?.status === 503);
    await eventually(() => expect(refused()).to.have.length.at.least(4));
    expect(refused()[0]?.held.reply?.fields).to.include.members(['Retry-After', '1']);
    for (const { end } of all) end();
    expect(opened().held.reply).to.equal(undefined);
  });
});
