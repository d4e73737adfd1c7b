// Commands as bytes: what the log carries and what comes out of it. When encryption is on they are sealed before they
// enter the log, because a log lies on disk too (architecture.md §7).
import type { RequestId } from '../model/answers/member-messages.ts';
import { roles } from '../model/api-role.ts';
import { isCookieKey } from '../model/cookie-keys.ts';
import { idPattern } from '../model/id.ts';
import { isCount, isObject } from '../model/json-object.ts';
import { editableKinds, kinds } from '../model/kinds.ts';
import { isKeyDigest } from '../model/managed-keys.ts';
import { jsonOf } from '../util/malformed-json.ts';
import type { Batch, Command, Put } from './command.ts';
import { auditProblemOf, type Fields, isIfMatch, isName, isOptionalText, isTexts } from './command-shape.ts';
import { OperationLines } from './operation-lines.ts';
import { PackedOperations } from './packed-operations.ts';
import { rolloutProblemOf } from './rollout-shape.ts';
import { SpecText, specInBytes, withSpec } from './spec-text.ts';

/** Bytes that are no command. Decided the same on every node: a result, not a failure. */
export interface Malformed {
  readonly op: 'malformed';
  /** Reads on from "the command". */
  readonly why: string;
  /** Known when the envelope could be read. */
  readonly requestId?: RequestId;
}

/** Seals and opens command bytes; see `Cipher`. */
export interface CommandSeal {
  sealCommand(plain: Uint8Array): Uint8Array;
  openCommand(sealed: Uint8Array): Uint8Array;
}

/** The command was written by a newer program, or cannot be read here. Going on would split this node from the others. */
export class CommandNotUnderstood extends Error {
  override readonly name = 'CommandNotUnderstood';
}

/** First byte of a sealed command. A plain one starts with its brace, so the two cannot be taken for each other. */
const sealedStart = 1;
const newline = 10;
/** Name in the log of a batch with packed operations: a program that cannot open them must not take it for a batch. */
const packedBatch = 'packedBatch';
const operations = [
  'put',
  'delete',
  'capture',
  'activate',
  'rollback',
  'confirm',
  'revert',
  'rollout',
  'batch',
  'discard',
  'drain',
  'cookieKey',
  'apiKey',
  'revokeApiKey',
];

export function encodeCommand(command: Command, seal?: CommandSeal): Uint8Array {
  const plain = plainBytesOf(command);
  return seal === undefined ? plain : Buffer.concat([Uint8Array.of(sealedStart), seal.sealCommand(plain)]);
}

/** @throws {CommandNotUnderstood} */
export function decodeCommand(bytes: Uint8Array, seal?: CommandSeal): Command | Malformed {
  const plain = plainOf(bytes, seal);
  const plainBytes = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength);
  const end = plainBytes.indexOf(newline);
  const head = end < 0 ? undefined : jsonOf(plainBytes.subarray(0, end));
  if (!isObject(head) || !isCount(head.operations)) return readCommand(singleOf(plainBytes));
  const lines = plainBytes.subarray(end + 1);
  if (head.op === packedBatch)
    return readCommand({ ...head, op: 'batch', operations: new PackedOperations(head.operations, lines) });
  if (head.op !== 'batch') return readCommand(singleOf(plainBytes));
  return readCommand({ ...head, operations: new OperationLines(head.operations, lines) });
}

function plainBytesOf(command: Command): Buffer {
  if (command.op === 'batch') return batchBytes(command);
  return Buffer.from(command.op === 'put' ? putText(command) : JSON.stringify(command));
}

/** The text of the entity stands last, as it is. A head without the field is cheaper than a copy. */
const putText = (command: Put): string => withSpec(JSON.stringify({ ...command, spec: undefined }), command.spec);

/** Returns a command that is no batch, if it is one. Earlier programs wrote entities in other places. */
function singleOf(bytes: Buffer): unknown {
  const put = specInBytes(bytes);
  if (put !== undefined && put.head.op === 'put') return { ...put.head, spec: put.spec };
  const value = jsonOf(bytes);
  if (!isObject(value) || value.op !== 'put' || !isObject(value.spec)) return value;
  return { ...value, spec: new SpecText(value.spec) };
}

/** The head with the number of operations, and a line for each. */
function batchBytes({ operations, ...rest }: Batch): Buffer {
  const isPacked = operations instanceof PackedOperations;
  const head = { ...rest, ...(isPacked && { op: packedBatch }), operations: operations.count };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), operations.bytes]);
}

/**
 * Checks the shape of a parsed command; what a spec holds was checked before it was proposed.
 * @throws {CommandNotUnderstood} for an operation or version of a newer program
 */
function readCommand(value: unknown): Command | Malformed {
  if (!isObject(value)) return { op: 'malformed', why: 'is not a JSON object' };
  if (typeof value.v === 'number' && value.v !== 1) throw new CommandNotUnderstood(`command version ${value.v}`);
  if (typeof value.op === 'string' && !operations.includes(value.op)) {
    throw new CommandNotUnderstood(`command "${value.op}"`);
  }
  if (!isRequestId(value.requestId)) return { op: 'malformed', why: 'has no request id' };
  const why = problemOf(value);
  return why === undefined ? (value as unknown as Command) : { op: 'malformed', why, requestId: value.requestId };
}

/** The first thing that is wrong; every field that apply reads is looked at. */
function problemOf(value: Fields): string | undefined {
  if (value.v !== 1) return 'has no version';
  if (!isCount(value.time)) return 'has no time';
  if (typeof value.id !== 'string' || !idPattern.test(value.id)) return 'has no valid id';
  if (value.ifMatch !== undefined && !isIfMatch(value.ifMatch)) return 'has an invalid ifMatch';
  if (value.idempotency !== undefined && !isIdempotency(value.idempotency)) return 'has an invalid idempotency key';
  switch (value.op) {
    case 'put':
      return putProblemOf(value);
    case 'delete':
      return kinds.some((kind) => kind === value.kind) ? undefined : 'names no kind';
    case 'capture':
      return captureProblemOf(value);
    case 'activate':
      if (value.force !== undefined && value.force !== true) return 'has an invalid force';
      return isOptionalCount(value.confirmWithin) ? auditProblemOf(value) : 'has an invalid confirmWithin';
    case 'rollback':
      return auditProblemOf(value);
    case 'confirm':
      return undefined;
    case 'revert':
      return isCount(value.activation) ? undefined : 'names no activation';
    case 'rollout':
      return rolloutProblemOf(value);
    case 'batch':
      return batchProblemOf(value);
    case 'discard':
      return discardProblemOf(value);
    case 'drain':
      if (!isName(value.endpoint)) return 'names no endpoint';
      return typeof value.drained === 'boolean' ? undefined : 'does not say whether it drains';
    case 'cookieKey':
      if (!isCookieKey(value.key)) return 'has no key of 32 bytes';
      return isCount(value.after) ? undefined : 'does not name the keys before it';
    case 'apiKey':
      if (!isName(value.name) || typeof value.by !== 'string') return 'names no holder, or no author';
      if (!roles.some((role) => role === value.role)) return 'has no role';
      return isKeyDigest(value.digest) ? undefined : 'has no digest of a key';
    case 'revokeApiKey':
      return undefined;
    default:
      return 'has no operation';
  }
}

function putProblemOf({ kind, mode, spec }: Fields): string | undefined {
  if (!editableKinds.some((known) => known === kind)) return 'names no kind';
  if (mode !== 'create' && mode !== 'update') return 'has no mode';
  return spec instanceof SpecText && isName(spec.fields.name) ? undefined : 'has no named spec';
}

function captureProblemOf({
  name,
  owner,
  labels,
  createdAt,
  checkedAt,
  holdsWrites,
  values,
}: Fields): string | undefined {
  if (!isName(name)) return 'has no name';
  if (!isOptionalText(owner) || (labels !== undefined && !isTexts(labels))) return 'has an invalid owner or labels';
  if (typeof createdAt !== 'string') return 'has no creation time';
  if (!isCount(checkedAt)) return 'has no checked index';
  if (holdsWrites !== undefined && holdsWrites !== true) return 'has an invalid holdsWrites';
  return isTexts(values) ? undefined : 'has no values';
}

/** The operations are looked at one by one when they are applied. */
function batchProblemOf({ operations, owner, prune, snapshot }: Fields): string | undefined {
  if (!(operations instanceof OperationLines || operations instanceof PackedOperations)) return 'has no operations';
  if (owner !== undefined && !isName(owner)) return 'has an invalid owner';
  if (prune !== undefined && !isKinds(prune)) return 'prunes what is no kind';
  if (snapshot === undefined) return undefined;
  if (!isObject(snapshot) || typeof snapshot.id !== 'string' || !idPattern.test(snapshot.id))
    return 'has no snapshot id';
  if (typeof snapshot.activate !== 'boolean') return 'does not say whether it activates';
  if (!isOptionalCount(snapshot.base) || !isOptionalCount(snapshot.keep)) return 'has an invalid base or keep';
  return captureProblemOf(snapshot) ?? auditProblemOf(snapshot);
}

function discardProblemOf({ owner, entities }: Fields): string | undefined {
  if (!isOptionalText(owner)) return 'has an invalid owner';
  return entities === undefined || (Array.isArray(entities) && entities.every(isEntityName))
    ? undefined
    : 'names what is no entity';
}

const isEntityName = (value: unknown): boolean =>
  Array.isArray(value) && isKinds(value.slice(0, 1)) && typeof value[1] === 'string';

const isKinds = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => editableKinds.some((kind) => kind === each));

const isOptionalCount = (value: unknown): boolean => value === undefined || isCount(value);

const isIdempotency = (value: unknown): boolean =>
  isObject(value) && typeof value.scope === 'string' && typeof value.bodyHash === 'string';

function isRequestId(value: unknown): value is RequestId {
  if (!isObject(value) || typeof value.origin !== 'string' || !value.origin.isWellFormed()) return false;
  return [value.incarnation, value.boot, value.seq, value.ackedBelow].every(isCount);
}

/**
 * An encryption setting that differs from the proposer's, in either direction, stops this node; it could not follow the
 * others.
 */
function plainOf(bytes: Uint8Array, seal: CommandSeal | undefined): Uint8Array {
  const sealed = bytes[0] === sealedStart;
  if (seal === undefined) {
    if (sealed) throw new CommandNotUnderstood('a command that is encrypted, although encryption is off');
    return bytes;
  }
  if (!sealed) throw new CommandNotUnderstood('a command that is not encrypted, although encryption is on');
  try {
    return seal.openCommand(bytes.subarray(1));
  } catch (cause) {
    throw new CommandNotUnderstood('a command sealed with another encryption key', { cause });
  }
}
