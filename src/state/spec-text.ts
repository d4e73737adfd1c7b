// Entity of a command: its text is written once, by the node that received the request, and goes on as it is: into the log,
// the entity and the answer.
import { isObject, type JsonObject } from '../model/json-object.ts';
import { jsonOf } from '../util/malformed-json.ts';

export class SpecText {
  readonly fields: JsonObject;
  #json: string | undefined;

  /** @param json its text; written when it is asked for where it is left out */
  constructor(fields: JsonObject, json?: string) {
    this.fields = fields;
    this.#json = json;
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.fields);
    return this.#json;
  }

  /** True when the text is the one that every node would write. */
  get isAsWritten(): boolean {
    return this.json === JSON.stringify(this.fields);
  }

  /** Returns the entity with that id in front; its text goes on as it is, for it has none. */
  withId(id: string): SpecText {
    const fields = { id, ...this.fields };
    const isBare = this.fields.id === undefined && withoutNumbers.test(this.json);
    return new SpecText(fields, isBare ? `{"id":${JSON.stringify(id)},${this.json.slice(1)}` : undefined);
  }

  toJSON(): JsonObject {
    return this.fields;
  }
}

/** Text of an object with fields, none of them a number: JavaScript puts those before all others. */
const withoutNumbers = /^\{"\D/;

const specKey = ',"spec":';
const closingBrace = 125;

/** Adds the entity to the text of an object, as its last field. */
export const withSpec = (head: string, { json }: SpecText): string => `${head.slice(0, -1)}${specKey}${json}}`;

interface Parts {
  readonly head: JsonObject;
  readonly spec: SpecText;
}

/**
 * Returns an object and the entity that is its last field, with its text; undefined for a text of another form. The key
 * stands in no text before it: a quotation mark within a text has a backslash in front.
 */
export function specIn(text: string): Parts | undefined {
  const at = text.indexOf(specKey);
  if (at < 0 || !text.endsWith('}')) return undefined;
  return partsOf(text.slice(0, at), text.slice(at + specKey.length, -1));
}

/** Does the same for bytes: the text of the entity is one of its own, not a part of one that would be kept for its sake. */
export function specInBytes(bytes: Buffer): Parts | undefined {
  const at = bytes.indexOf(specKey);
  if (at < 0 || bytes.at(-1) !== closingBrace) return undefined;
  return partsOf(bytes.toString('utf8', 0, at), bytes.toString('utf8', at + specKey.length, bytes.length - 1));
}

function partsOf(start: string, json: string): Parts | undefined {
  const head = jsonOf(`${start}}`);
  const fields = isObject(head) ? jsonOf(json) : undefined;
  return isObject(head) && isObject(fields) ? { head, spec: new SpecText(fields, json) } : undefined;
}
