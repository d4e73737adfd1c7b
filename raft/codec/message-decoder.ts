// Turns bytes of a peer into a message of the core, or into nothing. It never throws, and what it allocates
// is bounded by the bytes it was given. The layout is described in message-encoder.ts.
import type { Message, MessageType } from '../core/message.ts';
import { ByteReader } from './byte-reader.ts';
import { messageTypes } from './message-encoder.ts';
import { fragmentBytesMax } from './message-frames.ts';
import { memberIdBytesMax, readCheckpointMeta, readEntries } from './primitives.ts';

type Header = Pick<Message, 'clusterId' | 'from' | 'to' | 'term'>;

/**
 * Decodes exactly one well-formed message; undefined for anything else. The payloads of one append are parts of one
 * copy of the input: they come and go together, and separate memory for each would cost more than the command in it.
 * With `mayKeep`, when the memory of the input is used for nothing else, the payloads and any block that takes most of
 * the input stay where they are.
 */
export function decodeMessage(bytes: Uint8Array, mayKeep = false): Message | undefined {
  const isCopied = !mayKeep && messageTypes[bytes[0] ?? -1] === 'append';
  const reader = new ByteReader(isCopied ? new Uint8Array(bytes) : bytes, mayKeep);
  const type = messageTypes[reader.u8()];
  if (type === undefined) return undefined;
  const clusterId = Buffer.from(reader.bytes(16)).toString('hex');
  const from = reader.text(memberIdBytesMax);
  const to = reader.text(memberIdBytesMax);
  const message = readFields(reader, type, { clusterId, from, to, term: reader.u64() });
  return reader.complete ? message : undefined;
}

function readFields(reader: ByteReader, type: MessageType, header: Header): Message {
  switch (type) {
    case 'preVote':
      return { ...header, type, ...readLog(reader), nonce: reader.u64(), ...readCommit(reader) };
    case 'vote':
      return { ...header, type, ...readLog(reader), nonce: reader.u64(), transfer: reader.flag() };
    case 'preVoteResp':
      return { ...header, type, ...readVote(reader), ...readCommit(reader), ...readClock(reader) };
    case 'voteResp':
      return { ...header, type, ...readVote(reader), ...readClock(reader) };
    case 'append':
      return readAppend(reader, header);
    case 'appendResp':
      return readAppendResp(reader, header);
    case 'heartbeat':
      return { ...header, type, commit: reader.u64(), round: reader.u64(), ...readClock(reader) };
    case 'heartbeatResp':
      return readHeartbeatResp(reader, header);
    case 'checkpointBegin':
      return { ...header, type, transfer: reader.u64(), meta: readCheckpointMeta(reader) };
    case 'checkpointChunk':
      return readChunk(reader, header);
    case 'checkpointAck':
      return { ...header, type, transfer: reader.u64(), offset: reader.u64(), refused: reader.flag() };
    case 'timeoutNow':
      return { ...header, type };
    case 'readIndexReq':
      return { ...header, type, id: reader.u64() };
    case 'readIndexResp':
      return { ...header, type, id: reader.u64(), index: readOptional(reader) };
    case 'removed':
      return { ...header, type, index: reader.u64() };
  }
}

function readAppend(reader: ByteReader, header: Header): Message {
  const previous = { prevIndex: reader.u64(), prevTerm: reader.u64() };
  const progress = { commit: reader.u64(), sendSeq: reader.u64(), youAcked: reader.u64() };
  const vouchedBoot = reader.u64();
  return { ...header, type: 'append', ...previous, ...progress, vouchedBoot, entries: readEntries(reader) };
}

function readAppendResp(reader: ByteReader, header: Header): Message {
  const match = readOptional(reader);
  const refused = reader.flag();
  const reject = refused ? { prevIndex: reader.u64(), hintIndex: reader.u64(), hintTerm: reader.u64() } : undefined;
  const last = { lastIndex: reader.u64(), sendSeq: reader.u64(), ...readStart(reader) };
  return { ...header, type: 'appendResp', match, reject, ...last };
}

function readHeartbeatResp(reader: ByteReader, header: Header): Message {
  const health = { round: reader.u64(), applyLag: reader.u64(), diskSlow: reader.flag() };
  return { ...header, type: 'heartbeatResp', ...health, ...readStart(reader), ...readClock(reader) };
}

const readVote = (reader: ByteReader) => ({ granted: reader.flag(), nonce: reader.u64() });

const readClock = (reader: ByteReader): { clock?: number } => (reader.complete ? {} : { clock: reader.u64() });

/** Reads the start number of the sender, and whether its log counts. */
function readStart(reader: ByteReader): { boot: number; suspect: boolean } {
  return { boot: reader.u64(), suspect: reader.flag() };
}

function readChunk(reader: ByteReader, header: Header): Message {
  const place = { transfer: reader.u64(), offset: reader.u64() };
  return { ...header, type: 'checkpointChunk', ...place, data: reader.copy(fragmentBytesMax) };
}

function readLog(reader: ByteReader): { lastIndex: number; lastTerm: number } {
  return { lastIndex: reader.u64(), lastTerm: reader.u64() };
}

function readCommit(reader: ByteReader): { commit: number; commitTerm: number } {
  return { commit: reader.u64(), commitTerm: reader.u64() };
}

function readOptional(reader: ByteReader): number | undefined {
  return reader.flag() ? reader.u64() : undefined;
}
