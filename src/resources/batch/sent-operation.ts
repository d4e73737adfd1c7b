// Operation of a batch as it was sent, checked as a single one would be: its problems, its unknown fields, and its form in
// the log.
import { SluiceError } from '../../errors.ts';
import { idLengthMax, idPattern } from '../../model/id.ts';
import { isObject, type JsonObject } from '../../model/json-object.ts';
import { type EditableKind, editableKinds } from '../../model/kinds.ts';
import type { Problem } from '../../model/problem.ts';
import { findReferences } from '../../model/secret-reference.ts';
import { classOf, parseInSteps } from '../../model/validation.ts';
import type { BatchOperation, IfMatch } from '../../state/command.ts';
import { SpecText } from '../../state/spec-text.ts';
import { readJson } from '../json-reader.ts';
import { parseIfMatch } from '../preconditions.ts';

export interface SentOperation {
  /** Undefined when there are problems. */
  readonly operation: BatchOperation | undefined;
  /** Pointers begin with `/operations/<n>`. */
  readonly problems: readonly Problem[];
  readonly unknown: readonly string[];
  /** True where the body refers to the environment or the files of a node. */
  readonly readsNode: boolean;
}

const ops = ['create', 'update', 'upsert', 'delete'] as const;
const known = new Set(['op', 'kind', 'by', 'id', 'name', 'body', 'ifMatch', 'missingOk']);

/** Largest operation in bytes, which is the limit of the body of a single one. */
export const operationBytesMax = 4 * 1024 * 1024;

/**
 * Reads an operation in steps. Throws TOO_LARGE and TOO_MANY_KEYS beyond the limits of a single operation.
 * @param at position in the batch, from 0
 */
export function* readOperation(bytes: Buffer, at: number, newId: () => string): Generator<void, SentOperation> {
  const pointer = `/operations/${at}`;
  if (bytes.length > operationBytesMax) {
    const error = `${pointer} is larger than ${operationBytesMax / 1024 / 1024} MiB`;
    throw new SluiceError('TOO_LARGE', error, { body: { operation: at } });
  }
  const json = yield* jsonIn(bytes, at);
  if (typeof json === 'string') return refused([{ pointer, message: json }]);
  if (!isObject(json.value)) return refused([{ pointer, message: 'must be a JSON object' }]);
  return yield* new OperationReader(json.value, pointer).read(newId);
}

/** Returns the value, or a problem of the bytes; throws where their size is the problem. */
function* jsonIn(bytes: Buffer, at: number): Generator<void, { readonly value: unknown } | string> {
  try {
    if (bytes.length === 0) return 'must be a JSON object, but it is empty';
    return { value: yield* readJson(bytes) };
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const told = error.message.replace(/^body /, '');
    if (error.code === 'INVALID') return told;
    throw new SluiceError(error.code, `/operations/${at} ${told}`, { body: { operation: at } });
  }
}

const refused = (problems: readonly Problem[]): SentOperation => ({
  operation: undefined,
  problems,
  unknown: [],
  readsNode: false,
});

class OperationReader {
  readonly #fields: JsonObject;
  readonly #pointer: string;
  readonly #problems: Problem[] = [];
  readonly #unknown: string[] = [];

  constructor(fields: JsonObject, pointer: string) {
    this.#fields = fields;
    this.#pointer = pointer;
  }

  *read(newId: () => string): Generator<void, SentOperation> {
    for (const name of Object.keys(this.#fields)) if (!known.has(name)) this.#unknown.push(`${this.#pointer}/${name}`);
    const op = this.#choice('op', ops);
    const kind = this.#choice('kind', editableKinds);
    const by = this.#choice('by', ['id', 'name'] as const, 'id');
    if (op === undefined || kind === undefined || by === undefined) return refused(this.#problems);
    const condition = { ...this.#ifMatch(), ...this.#missingOk(op) };
    const operation = op === 'delete' ? this.#delete(kind, by) : yield* this.#write(op, kind, by, newId);
    const { spec } = operation;
    const readsNode = spec !== undefined && findReferences(spec.fields).some(({ source }) => source !== 'value');
    const isGood = this.#problems.length === 0;
    return {
      operation: isGood ? { ...operation, ...condition } : undefined,
      problems: this.#problems,
      unknown: this.#unknown,
      readsNode,
    };
  }

  #delete(kind: EditableKind, by: 'id' | 'name'): BatchOperation {
    const operation = { op: 'delete', kind, by } as const;
    if (this.#present('body') !== undefined) this.#refuse('/body', 'is not for a delete');
    // A delete with an id and a name may mean two entities, and would remove only one of them.
    const other = by === 'id' ? 'name' : 'id';
    if (this.#present(other) !== undefined) this.#refuse(`/${other}`, `is not for a delete by ${by}`);
    return by === 'id' ? { ...operation, id: this.#id(true) ?? '' } : { ...operation, name: this.#name() };
  }

  *#write(
    op: 'create' | 'update' | 'upsert',
    kind: EditableKind,
    by: 'id' | 'name',
    newId: () => string,
  ): Generator<void, BatchOperation> {
    const { entity, problems, unknown } = yield* parseInSteps(classOf[kind], this.#fields.body ?? {});
    if (this.#present('body') === undefined) this.#refuse('/body', 'is required');
    else for (const { pointer, message } of problems) this.#refuse(`/body${pointer}`, message);
    // A name beside the body may be meant as the one to look for, while the body's is the one that is looked for.
    const name = this.#present('name');
    if (name !== undefined && name !== entity.name) this.#refuse('/name', 'is not the name in the body');
    this.#unknown.push(...unknown.map((one) => `${this.#pointer}/body${one}`));
    const { id: sent, ...spec } = entity;
    // By name an update finds its entity. An id beside it may mean another one; the body's own says where it was read.
    if (by === 'name' && op === 'update' && this.#present('id') !== undefined) {
      this.#refuse('/id', 'is not for an update by name');
    }
    const own = this.#id(false) ?? (typeof sent === 'string' ? sent : undefined);
    if (by === 'id' && op !== 'create' && own === undefined && this.#problems.length === 0) {
      this.#refuse('/id', 'is required');
    }
    // Only what may come to be needs an id of its own.
    const id = by === 'name' && op === 'update' ? undefined : (own ?? newId());
    return { op, kind, by, ...(id !== undefined && { id }), spec: new SpecText(spec) };
  }

  #id(required: boolean): string | undefined {
    const id = this.#present('id');
    if (id === undefined && required) this.#refuse('/id', 'is required');
    if (id === undefined) return undefined;
    if (typeof id === 'string' && idPattern.test(id)) return id;
    this.#refuse('/id', `must have 1 to ${idLengthMax} of the characters A-Z a-z 0-9 . _ ~ : -`);
    return undefined;
  }

  #name(): string {
    const name = this.#present('name');
    if (typeof name === 'string') return name;
    this.#refuse('/name', name === undefined ? 'is required' : 'must be a text');
    return '';
  }

  #ifMatch(): { ifMatch?: IfMatch } {
    const text = this.#present('ifMatch');
    if (text === undefined) return {};
    const ifMatch = typeof text === 'string' ? parseIfMatch(text) : undefined;
    if (ifMatch !== undefined) return { ifMatch };
    this.#refuse('/ifMatch', 'must be * or a list of quoted revisions');
    return {};
  }

  /** Field `missingOk`, known to deletes alone: other operations on a missing entity are refused all the same. */
  #missingOk(op: (typeof ops)[number]): { missingOk?: true } {
    const value = this.#fields.missingOk ?? undefined;
    if (value !== undefined && typeof value !== 'boolean') this.#refuse('/missingOk', 'must be true or false');
    if (value !== true) return {};
    if (op === 'delete') return { missingOk: true };
    this.#unknown.push(`${this.#pointer}/missingOk`);
    return {};
  }

  #choice<T extends string>(name: string, allowed: readonly T[], absent?: T): T | undefined {
    const value = this.#present(name) ?? absent;
    const found = allowed.find((one) => one === value);
    if (found === undefined) {
      this.#refuse(`/${name}`, value === undefined ? 'is required' : `must be one of ${allowed.join(', ')}`);
    }
    return found;
  }

  /** Value of a field; null and empty texts are absent (J4 and J5 of contract.md §0.2). */
  #present(name: string): unknown {
    const value = this.#fields[name];
    return value === null || value === '' ? undefined : value;
  }

  #refuse(pointer: string, message: string): void {
    this.#problems.push({ pointer: this.#pointer + pointer, message });
  }
}
