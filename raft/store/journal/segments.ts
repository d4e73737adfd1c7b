// Segments of the journal on disk: `<number>.log`, numbered without a gap; the last ones may be empty, made ahead.
// Reads them at start and reports their problems (raft.md A18).
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifPresent } from '../../../disk/durable-file.ts';
import { alignment, endOfFrame, type Frame, readFrame } from './journal-frames.ts';

interface Segment {
  readonly number: number;
  /** Length of the frames, in bytes from the beginning. */
  readonly used: number;
  /** Size of the file in bytes. */
  readonly bytes: number;
  readonly frames: readonly Frame[];
}

export interface ReadSegments {
  /** Those that count, in order; the first one holds frames. */
  readonly segments: readonly Segment[];
  /**
   * Numbers of files that do not count: older than a gap, which a power failure leaves when files are removed in order.
   */
  readonly others: readonly number[];
  /** Bytes are there that were acknowledged, and are not what was written. */
  readonly problems: readonly string[];
  /** Bytes that may have been acknowledged are not what was written. */
  readonly complaints: readonly string[];
}

export const segmentName = (number: number): string => `${String(number).padStart(16, '0')}.log`;

export async function readSegments(directory: string): Promise<ReadSegments> {
  const numbers = await segmentNumbers(directory);
  const since = numbers.findLastIndex((number, at) => numbers[at - 1] !== number - 1);
  const segments: Segment[] = [];
  const problems: string[] = [];
  const complaints: string[] = [];
  let last: number | undefined;
  for (const number of numbers.slice(Math.max(0, since))) {
    const name = segmentName(number);
    const bytes = await readFile(join(directory, name));
    const frames = framesOf(bytes, last);
    const used = frames.at(-1)?.end ?? 0;
    const [first] = frames;
    if (first !== undefined && last !== undefined && first.number !== last + 1) {
      problems.push(`frame ${last + 1} of the journal is missing before ${name}`);
    }
    last = frames.at(-1)?.number ?? last;
    const rest = judgeRest(bytes, used, last);
    if (rest === 'frames') problems.push(`${name} is damaged at byte ${used}`);
    // What is behind the frames of an earlier run was never acknowledged: the next one went on without it.
    if (frames.length > 0) complaints.length = 0;
    if (rest === 'damaged') complaints.push(`${name} is damaged at byte ${used}, where it ends`);
    segments.push({ number, used, bytes: bytes.length, frames });
  }
  return { segments, others: numbers.slice(0, Math.max(0, since)), problems, complaints };
}

async function segmentNumbers(directory: string): Promise<readonly number[]> {
  const names = (await ifPresent(readdir(directory))) ?? [];
  return names
    .filter((name) => /^\d{16}\.log$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}

/** From the beginning, as far as one follows the other. */
function framesOf(bytes: Buffer, before: number | undefined): Frame[] {
  const frames: Frame[] = [];
  for (let frame = readFrame(bytes, 0); frame !== undefined; frame = readFrame(bytes, frame.end)) {
    const last = frames.at(-1)?.number;
    if (last !== undefined && frame.number !== last + 1) break;
    if (before !== undefined && frame.number <= before) break;
    frames.push(frame);
  }
  return frames;
}

/** Size of the smallest piece that a disk writes whole or not at all. */
const sectorBytes = 512;

/**
 * Contents behind the last frame. Nothing: zeros. `torn`: a write that never ended, for a sector of it was not written.
 * `frames`: later ones, so that one before them was whole once. `damaged`: none of these.
 */
function judgeRest(bytes: Buffer, at: number, last: number | undefined): 'nothing' | 'torn' | 'frames' | 'damaged' {
  if (isZero(bytes, at, bytes.length)) return 'nothing';
  for (let next = at; next < bytes.length; next += alignment) {
    const head = endOfFrame(bytes, next);
    // Its own head may be whole; only later frames show that it was.
    if (head !== undefined && (next > at || head.number !== (last ?? head.number - 1) + 1)) return 'frames';
  }
  const end = endOfFrame(bytes, at)?.end ?? at + sectorBytes;
  if (end > bytes.length) return 'torn';
  for (let from = at; from < end; from = sectorAfter(from)) {
    if (isZero(bytes, from, Math.min(sectorAfter(from), end))) return 'torn';
  }
  return 'damaged';
}

const sectorAfter = (at: number): number => (Math.floor(at / sectorBytes) + 1) * sectorBytes;

function isZero(bytes: Buffer, from: number, to: number): boolean {
  const zero = zeros.subarray(0, Math.min(zeros.length, to - from));
  for (let at = from; at < to; at += zero.length) {
    if (zero.compare(bytes, at, Math.min(at + zero.length, to), 0, Math.min(zero.length, to - at)) !== 0) return false;
  }
  return true;
}

const zeros = Buffer.alloc(64 * 1024);
