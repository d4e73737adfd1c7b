// The operations of a batch as they travel: one line of JSON each, read when they are applied. Tens of thousands are
// never a tree of objects at once, and a command that carries them is put together and taken apart by copying bytes.
import { idPattern } from '../model/id.ts';
import { isObject } from '../model/json-object.ts';
import { editableKinds } from '../model/kinds.ts';
import { jsonOf } from '../util/malformed-json.ts';
import type { BatchOperation, Operations, Spec } from './command.ts';
import { isIfMatch, isName } from './command-shape.ts';
import { SpecText, specIn, withSpec } from './spec-text.ts';

const newline = 10;

export class OperationLines implements Operations {
  readonly count: number;
  readonly bytes: Uint8Array;

  constructor(count: number, bytes: Uint8Array) {
    this.count = count;
    this.bytes = bytes;
  }

  static of(operations: readonly OperationDraft[]): OperationLines {
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

/** Operation whose entity may have no text yet. */
export type OperationDraft = Omit<BatchOperation, 'spec'> & { readonly spec?: Spec | SpecText };

/**
 * Returns the line of an operation. The text of its entity stands last and is read as it is. JSON.stringify never writes a
 * line break, so a line needs no escaping.
 */
export function operationLine({ spec, ...head }: OperationDraft): string {
  const text = JSON.stringify(head);
  if (spec === undefined) return `${text}\n`;
  return `${withSpec(text, spec instanceof SpecText ? spec : new SpecText(spec))}\n`;
}

/** Earlier programs wrote conditions behind the entity. */
function readOperation(line: string): BatchOperation | undefined {
  const parts = specIn(line);
  const value = parts === undefined ? withText(jsonOf(line)) : Object.assign(parts.head, { spec: parts.spec });
  return isOperation(value) ? value : undefined;
}

const withText = (value: unknown): unknown =>
  isObject(value) && isObject(value.spec) ? { ...value, spec: new SpecText(value.spec) } : value;

function isOperation(value: unknown): value is BatchOperation {
  if (!isObject(value) || !editableKinds.some((kind) => kind === value.kind)) return false;
  const { op, by, id, name, spec, ifMatch } = value;
  if (id !== undefined && (typeof id !== 'string' || !idPattern.test(id))) return false;
  if (ifMatch !== undefined && !isIfMatch(ifMatch)) return false;
  if (by !== 'id' && by !== 'name') return false;
  if (by === 'id' && id === undefined) return false;
  if (op === 'delete') return by === 'id' || isName(name);
  if (!(spec instanceof SpecText) || !isName(spec.fields.name)) return false;
  return op === 'update' || ((op === 'create' || op === 'upsert') && id !== undefined);
}
