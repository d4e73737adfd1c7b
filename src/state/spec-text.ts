// Entity of a command: its text is written once, by the node that received the request, and goes on as it is: into the log,
// the entity and the answer.
import type { JsonObject } from '../model/json-object.ts';

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

  toJSON(): JsonObject {
    return this.fields;
  }
}
