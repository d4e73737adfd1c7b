// Response parsed last on a connection to an upstream, as the rest of the data plane sees it.
import type { FieldLines } from '../../fields/field-lines.ts';
import type { BodyKind } from '../../message/request.ts';
import type { ResponseHead } from '../../message/response.ts';
import type { Framing } from '../framing.ts';
import type { ResponseParser } from '../response-parser.ts';

export class ParsedResponse implements ResponseHead {
  readonly #parser: ResponseParser;
  readonly #framing: Framing;

  constructor(parser: ResponseParser, framing: Framing) {
    this.#parser = parser;
    this.#framing = framing;
  }

  get status(): number {
    return this.#parser.status;
  }

  get reason(): string {
    return this.#parser.reason;
  }

  get lines(): FieldLines {
    return this.#parser.head;
  }

  get bodyKind(): BodyKind {
    const { kind } = this.#framing;
    return kind === 'none' || kind === 'length' ? kind : 'stream';
  }

  get bodyLength(): number {
    return this.#framing.length;
  }

  get named(): readonly string[] {
    return this.#framing.named;
  }

  get upgrade(): string {
    return this.#framing.upgrade;
  }
}
