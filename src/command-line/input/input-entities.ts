// Resources of input files: documents with `kind:`, or maps with `routes: […]`, both with `owner:` at the top.
import { type EditableKind, editableKinds } from '../../model/kinds.ts';
import { pointerOf } from '../../model/problem.ts';
import { nearestWord } from '../../util/nearest-word.ts';
import { kindNamed, meant } from '../kind-names.ts';
import { documentsOf, type InputDocument } from './document.ts';
import { type Fault, faultsMax, type Place, placeText } from './fault.ts';
import type { InputFile } from './input-files.ts';
import type { Variables } from './variables.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface InputEntity {
  readonly kind: EditableKind;
  /** Text of `name`, else of `id`. */
  readonly name: string;
  readonly fields: Fields;
  /** Place of a JSON pointer within the resource. */
  placeOf(pointer: string): Place;
}

export interface Input {
  readonly entities: readonly InputEntity[];
  /** Kinds that appear, also with an empty list. */
  readonly kinds: ReadonlySet<EditableKind>;
  /** Owners that stand at the top of documents. */
  readonly owners: ReadonlySet<string>;
  readonly faults: Fault[];
}

/** Reads all files. `owner`: that of resources whose document names none. */
export function readEntities(files: readonly InputFile[], variables: Variables, owner?: string): Input {
  const reader = new Reader(owner);
  for (const file of files) {
    const documents = documentsOf(file, variables, (place, message) => reader.fault(place, '', '', message));
    for (const document of documents) reader.document(document);
  }
  return reader;
}

class Reader implements Input {
  readonly entities: InputEntity[] = [];
  readonly kinds = new Set<EditableKind>();
  readonly owners = new Set<string>();
  readonly faults: Fault[] = [];
  readonly #owner: string | undefined;
  readonly #seen = new Map<string, InputEntity>();

  constructor(owner: string | undefined) {
    this.#owner = owner;
    if (owner !== undefined) this.owners.add(owner);
  }

  fault(place: Place, subject: string, pointer: string, message: string): undefined {
    if (this.faults.length < faultsMax) this.faults.push({ place, subject, pointer, message });
  }

  document(document: InputDocument): undefined {
    const { value } = document;
    if (!isMap(value))
      return this.#refuse(document, [], 'a document must be a map with kind, or with lists of resources');
    const { kind } = value;
    if (kind === undefined) this.#lists(document, value);
    else if (typeof kind === 'string') this.#single(document, value, kind);
    else this.#refuse(document, ['kind'], 'kind must be the name of a kind');
  }

  #single(document: InputDocument, value: Fields, word: string): undefined {
    const kind = kindNamed(word);
    if (kind === undefined)
      return this.#refuse(document, ['kind'], `${word} is not a kind${meant(word, editableKinds)}`);
    const { kind: _, ...fields } = value;
    if (!this.#agrees(document, fields.owner)) return;
    if (typeof fields.owner === 'string') this.owners.add(fields.owner);
    this.kinds.add(kind);
    this.#entity(document, kind, fields, []);
  }

  #lists(document: InputDocument, value: Fields): undefined {
    const { owner, ...rest } = value;
    if (!this.#agrees(document, owner)) return;
    if (typeof owner === 'string') this.owners.add(owner);
    for (const [key, list] of Object.entries(rest)) {
      const kind = kindNamed(key);
      if (kind === undefined) this.#refuse(document, [key], `${key} is not a kind${nearKey(key)}`);
      // An absent collection is no empty one: nothing is pruned by it.
      else if (list !== null) this.#list(document, kind, key, list, owner);
    }
  }

  #list(document: InputDocument, kind: EditableKind, key: string, list: unknown, owner: unknown): undefined {
    if (!Array.isArray(list)) return this.#refuse(document, [key], `${key} must be a list`);
    this.kinds.add(kind);
    for (const [at, fields] of list.entries()) {
      const path = [key, String(at)];
      if (!isMap(fields)) this.#refuse(document, path, 'must be a map');
      else this.#entity(document, kind, owner === undefined ? fields : { owner, ...fields }, path);
    }
  }

  #agrees(document: InputDocument, owner: unknown): boolean {
    if (owner === undefined || owner === null) return true;
    if (typeof owner !== 'string' || owner === '') this.#refuse(document, ['owner'], 'owner must be a text');
    else if (this.#owner !== undefined && owner !== this.#owner)
      this.#refuse(document, ['owner'], `owner ${owner} is not that of --owner ${this.#owner}`);
    else return true;
    return false;
  }

  #entity(document: InputDocument, kind: EditableKind, given: Fields, path: readonly string[]): undefined {
    const { name, id } = given;
    const fields = this.#owner === undefined || given.owner !== undefined ? given : { ...given, owner: this.#owner };
    const text = typeof name === 'string' && name !== '' ? name : typeof id === 'string' ? id : '';
    const placeOf = (pointer: string) => document.placeOf([...path, ...segmentsOf(pointer)]);
    if (name !== undefined && name !== null && typeof name !== 'string')
      return this.fault(
        placeOf('/name'),
        kind,
        '/name',
        typeof name === 'object' ? 'must be a text' : `must be a text: "${name}"`,
      );
    if (text === '') return this.fault(placeOf(''), kind, '/name', 'is required');
    const entity: InputEntity = { kind, name: text, fields, placeOf };
    const keys = [`name ${kind} ${text}`, ...(typeof id === 'string' && id !== '' ? [`id ${kind} ${id}`] : [])];
    const before = keys.map((key) => this.#seen.get(key)).find((each) => each !== undefined);
    if (before !== undefined)
      return this.fault(placeOf(''), subjectOf(entity), '', `is there already at ${placeText(before.placeOf(''))}`);
    for (const key of keys) this.#seen.set(key, entity);
    this.entities.push(entity);
  }

  #refuse(document: InputDocument, path: readonly string[], message: string): undefined {
    this.fault(document.placeOf(path), '', pointerOf(...path), message);
  }
}

export const subjectOf = ({ kind, name }: { readonly kind: EditableKind; readonly name: string }): string =>
  `${kind}/${name}`;

/** Segments of a JSON pointer (RFC 6901 §4). */
export const segmentsOf = (pointer: string): string[] =>
  pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~'));

function nearKey(key: string): string {
  const near = nearestWord(key, ['kind', 'owner', ...editableKinds]);
  return near === undefined ? '' : ` (did you mean "${near}"?)`;
}

const isMap = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
