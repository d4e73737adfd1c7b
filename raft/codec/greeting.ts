// Frames that two nodes exchange before the first message (raft.md A3, A21): hello, challenge, proof, welcome or
// refusal. Layout only; raft/transport/peer-handshake.ts decides about admission.
import type { Identity } from '../core/types.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';

/** Greeting of a node: its identity and state, enough to decide which node may create a cluster (raft.md A19). */
export interface Greeting extends Identity {
  /** 32 hex digits; undefined while the node belongs to no cluster. */
  readonly clusterId: string | undefined;
  /** Count of openings of its directory; with `run` it tells a restart from a copied directory. */
  readonly boots: number;
  /** Random per process. */
  readonly run: number;
  /** `host:port` of its raft transport and of the program above it. */
  readonly address: string;
  readonly clientAddress: string;
  readonly lastIndex: number;
  readonly lastTerm: number;
  /** Node ids that it expects to form a cluster with; empty without static peers. */
  readonly expects: readonly string[];
  /** Fingerprint of the key for data at rest; empty without one. */
  readonly keyFingerprint: string;
  /** One bit for each thing that versions have learned since the first (`capability`); unknown bits are ignored. */
  readonly capabilities: number;
}

export type HandshakeFrame =
  | { readonly type: 'hello'; readonly nonce: Uint8Array }
  | { readonly type: 'challenge'; readonly nonce: Uint8Array }
  /** `mac` covers `greeting`, the encoded form. */
  | { readonly type: 'proof' | 'welcome'; readonly greeting: Uint8Array; readonly mac: Uint8Array }
  | { readonly type: 'refusal'; readonly reason: string }
  /** Refuses a removed identity for good, so `mac` covers the reason. */
  | { readonly type: 'removal'; readonly reason: string; readonly mac: Uint8Array };

/** Bits of `Greeting.capabilities`. The proof covers them, so that no third party takes one away. */
export const capability = { sealedRecords: 1 };

export const nonceBytes = 16;
const macBytes = 32;
const types = ['hello', 'challenge', 'proof', 'welcome', 'refusal', 'removal'] as const;
const textBytesMax = 512;
const greetingBytesMax = 6 * 1024;

export function encodeHandshake(frame: HandshakeFrame): Buffer {
  const writer = new ByteWriter().u8(types.indexOf(frame.type));
  switch (frame.type) {
    case 'hello':
    case 'challenge':
      return writer.bytes(frame.nonce).finish();
    case 'proof':
    case 'welcome':
      return writer.block(frame.greeting).bytes(frame.mac).finish();
    case 'refusal':
      return writer.text(shortened(frame.reason)).finish();
    case 'removal':
      return writer.text(frame.reason).bytes(frame.mac).finish();
  }
}

/** Reason as it fits into a frame. */
export const shortened = (reason: string): string => reason.slice(0, textBytesMax / 4);

/** Undefined for anything else. Byte fields are copies. */
export function decodeHandshake(bytes: Uint8Array): HandshakeFrame | undefined {
  const reader = new ByteReader(bytes);
  const type = types[reader.u8()];
  const frame = type === undefined ? undefined : readFrame(reader, type);
  return reader.complete ? frame : undefined;
}

function readFrame(reader: ByteReader, type: (typeof types)[number]): HandshakeFrame {
  switch (type) {
    case 'hello':
    case 'challenge':
      return { type, nonce: new Uint8Array(reader.bytes(nonceBytes)) };
    case 'proof':
    case 'welcome':
      return { type, greeting: reader.copy(greetingBytesMax), mac: new Uint8Array(reader.bytes(macBytes)) };
    case 'refusal':
      return { type, reason: reader.text(textBytesMax) };
    case 'removal':
      return { type, reason: reader.text(textBytesMax), mac: new Uint8Array(reader.bytes(macBytes)) };
  }
}

export function encodeGreeting(greeting: Greeting): Buffer {
  const writer = new ByteWriter();
  writer.flag(greeting.clusterId !== undefined).bytes(Buffer.from(greeting.clusterId ?? '', 'hex'));
  writer.text(greeting.nodeId).u64(greeting.incarnation).u64(greeting.boots).u64(greeting.run);
  writer.text(greeting.address).text(greeting.clientAddress).u64(greeting.lastIndex).u64(greeting.lastTerm);
  writer.list(greeting.expects, (nodeId) => writer.text(nodeId));
  return writer.text(greeting.keyFingerprint).u32(greeting.capabilities).finish();
}

export function decodeGreeting(bytes: Uint8Array): Greeting | undefined {
  const reader = new ByteReader(bytes);
  const clusterId = reader.flag() ? Buffer.from(reader.bytes(16)).toString('hex') : undefined;
  const identity = { nodeId: reader.text(textBytesMax), incarnation: reader.u64() };
  const life = { boots: reader.u64(), run: reader.u64() };
  const addresses = { address: reader.text(textBytesMax), clientAddress: reader.text(textBytesMax) };
  const log = { lastIndex: reader.u64(), lastTerm: reader.u64() };
  const expects = reader.list(4, () => reader.text(textBytesMax));
  const keyFingerprint = reader.text(textBytesMax);
  const greeting = { clusterId, ...identity, ...life, ...addresses, ...log, expects, keyFingerprint };
  const capabilities = reader.u32();
  return reader.complete ? { ...greeting, capabilities } : undefined;
}
