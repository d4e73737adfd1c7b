// The operations of a batch as they travel: one line of JSON each, read when they are applied. Tens of thousands are
// never a tree of objects at once, and a command that carries them is put together and taken apart by copying bytes.
import { idPattern } from '../model/id.ts';
import { isObject } from '../model/json-object.ts';
import { editableKinds } from '../model/kinds.ts';
import type { BatchOperation, Operations } from './command.ts';
import { isIfMatch, isName } from './command-shape.ts';

const newline = 10;

export class OperationLines implements Operations {
  readonly count: number;
  readonly bytes: Uint8Array;

  constructor(count: number, bytes: Uint8Array) {
    this.count = count;
    this.bytes = bytes;
  }

  static of(operations: readonly BatchOperation[]): OperationLines {
    return new OperationLines(operations.length, Buffer.from(operations.map(operationLine).join('')));
  }

  [Symbol.iterator](): Generator<BatchOperation | undefined> {
    return operationsIn(Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength));
  }
}

/** Operations of lines in order; undefined for a line that is no operation. */
export function* operationsIn(lines: Buffer): Generator<BatchOperation | undefined> {
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf(newline, at);
    yield readOperation(lines.toString('utf8', at, end < 0 ? lines.length : end));
    at = end < 0 ? lines.length : end + 1;
  }
}

/** JSON.stringify never writes a line break, so a line needs no escaping. */
export const operationLine = (operation: BatchOperation): string => `${JSON.stringify(operation)}\n`;

function readOperation(line: string): BatchOperation | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isOperation(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isOperation(value: unknown): value is BatchOperation {
  if (!isObject(value) || !editableKinds.some((kind) => kind === value.kind)) return false;
  const { op, by, id, name, spec, ifMatch } = value;
  if (id !== undefined && (typeof id !== 'string' || !idPattern.test(id))) return false;
  if (ifMatch !== undefined && !isIfMatch(ifMatch)) return false;
  if (by !== 'id' && by !== 'name') return false;
  if (by === 'id' && id === undefined) return false;
  if (op === 'delete') return by === 'id' || isName(name);
  if (!isObject(spec) || !isName(spec.name)) return false;
  return op === 'update' || ((op === 'create' || op === 'upsert') && id !== undefined);
}
