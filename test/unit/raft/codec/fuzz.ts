// Feeds mutated frames to the decoder and counts what becomes of them. The unit suite runs a short round; by hand:
//   node test/unit/raft/codec/fuzz.ts --frames 1000000 --seed 1
import { pathToFileURL } from 'node:url';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { decodeMessage } from '../../../../raft/codec/message-decoder.ts';
import { encodeMessage, laneOf } from '../../../../raft/codec/message-encoder.ts';
import { encodeFrames, FrameDecoder } from '../../../../raft/codec/message-frames.ts';
import { optionsOf } from '../../../../raft/testing/commands/options.ts';
import { anyMessage } from './messages.ts';

export interface FuzzResult {
  /** The frame or message layer refused it. */
  readonly refused: number;
  /** Count of inputs that decoded, and whose encoding decodes again. */
  readonly decoded: number;
  /** Neither: cut short, so the decoder waits for more. */
  readonly waiting: number;
}

/** Throws what the decoder throws. Half of the mutations get their checksums repaired, to reach the message layer. */
export function fuzzFrames(frames: number, seed: number): FuzzResult {
  const random = generator(seed);
  const corpus = fc.sample(anyMessage, { seed, numRuns: 500 }).map((message) => ({
    bytes: encodeMessage(message),
    lane: laneOf(message.type),
  }));
  const result = { refused: 0, decoded: 0, waiting: 0 };
  for (let n = 0; n < frames; n++) {
    const { bytes, lane } = corpus[random(corpus.length)]!;
    const repaired = random(2) === 0;
    const stream = repaired
      ? Buffer.concat(encodeFrames(mutate(bytes, random), lane))
      : mutate(Buffer.concat(encodeFrames(bytes, lane)), random);
    result[fateOf(repaired && random(4) === 0 ? withBrokenHead(stream, random) : stream)]++;
  }
  return result;
}

function fateOf(stream: Buffer): keyof FuzzResult {
  let fate: keyof FuzzResult = 'waiting';
  const fault = new FrameDecoder().push(stream, (body) => {
    const message = decodeMessage(body);
    if (message === undefined) fate = 'refused';
    else if (decodeMessage(encodeMessage(message)) !== undefined) fate = 'decoded';
    else throw new Error('a decoded message does not encode to one that decodes');
  });
  return fault === undefined ? fate : 'refused';
}

function mutate(bytes: Buffer, random: (below: number) => number): Buffer {
  let result = Buffer.from(bytes);
  for (let left = 1 + random(3); left > 0 && result.length > 0; left--) {
    const at = random(result.length);
    const kind = random(5);
    if (kind === 0) result[at] = result[at]! ^ (1 << random(8));
    if (kind === 1) result[at] = [0, 1, 0x7f, 0x80, 0xff][random(5)]!;
    if (kind === 2) result = result.subarray(0, at);
    if (kind === 3)
      result = Buffer.concat([result.subarray(0, at), Buffer.alloc(1 + random(8), random(256)), result.subarray(at)]);
    if (kind === 4) result.writeUInt32BE(0xffff_ffff, Math.max(0, Math.min(at, result.length - 4)));
    if (result.length < 4) break;
  }
  return result;
}

/** Changes version or flags and makes the checksum fit again. */
function withBrokenHead(stream: Buffer, random: (below: number) => number): Buffer {
  if (stream.length < 10) return stream;
  stream.writeUInt8(random(256), 8 + random(2));
  const end = Math.min(stream.length, 8 + stream.readUInt32BE(0));
  stream.writeUInt32BE(crc32(stream.subarray(8, end)), 4);
  return stream;
}

function generator(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = optionsOf(import.meta.url, { options: { frames: { type: 'string' }, seed: { type: 'string' } } });
  const before = process.memoryUsage().rss;
  const result = fuzzFrames(Number(values.frames ?? 1_000_000), Number(values.seed ?? 1));
  const peakMiB = Math.round(process.resourceUsage().maxRSS / 1024);
  console.log(JSON.stringify({ ...result, peakMiB, startMiB: Math.round(before / 2 ** 20) }));
}
