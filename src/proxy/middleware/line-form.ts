// The form of an access log line: constant bytes before, between and behind values, each of which is written straight into the
// memory that leaves with the line.
import { randomUUID } from 'node:crypto';
import { type LineBytes, needsQuotes, type Shown } from '../access-log/line-bytes.ts';
import { type LogMoment, type LogVariable, logVariable } from './log-variables.ts';
import { piecesOf } from './template.ts';

interface LineValue {
  put(moment: LogMoment, line: LineBytes): void;
}

export class LineForm {
  readonly #shown: Shown;
  readonly #id: LineValue;
  readonly #values: LineValue[] = [];
  /** Before the first value, and behind each. */
  readonly #constants: Buffer[] = [Buffer.alloc(0)];

  /** `keepsId`: the id of an exchange is written more than once. */
  constructor(shown: Shown, keepsId: boolean) {
    this.#shown = shown;
    this.#id = keepsId ? keptId : newId;
  }

  /** Stands in each line as it is. */
  constant(text: string): void {
    const last = this.#constants.pop() ?? Buffer.alloc(0);
    this.#constants.push(Buffer.concat([last, Buffer.from(text)]));
  }

  /** Adds a text with placeholders; an unknown one stays as it is. */
  template(text: string): void {
    for (const piece of piecesOf(text, logVariable)) {
      if (typeof piece === 'string') this.constant(this.#shown(piece));
      else {
        this.#values.push(this.#valueOf(piece));
        this.#constants.push(Buffer.alloc(0));
      }
    }
  }

  /** A template whose value stands in quotes where it has what could be taken for its end or for another field. */
  quotable(text: string): void {
    const form = new LineForm(this.#shown, this.#id === keptId);
    form.template(text);
    const [before = ''] = form.#constants.map(String);
    if (form.#values.length === 0) this.constant(needsQuotes(before) ? `"${before}"` : before);
    else {
      this.#values.push(new QuotableValue(form));
      this.#constants.push(Buffer.alloc(0));
    }
  }

  write(moment: LogMoment, line: LineBytes): void {
    const constants = this.#constants;
    const values = this.#values;
    line.constant(constants[0] as Buffer);
    for (let i = 0; i < values.length; i++) {
      (values[i] as LineValue).put(moment, line);
      line.constant(constants[i + 1] as Buffer);
    }
  }

  #valueOf(variable: LogVariable): LineValue {
    if (variable.kind === 'id') return this.#id;
    if (variable.kind === 'text') return new TextValue(variable.read, this.#shown);
    return new CountValue(variable.read);
  }
}

class QuotableValue implements LineValue {
  readonly #form: LineForm;

  constructor(form: LineForm) {
    this.#form = form;
  }

  put(moment: LogMoment, line: LineBytes): void {
    const start = line.length;
    this.#form.write(moment, line);
    line.quoteFrom(start);
  }
}

class TextValue implements LineValue {
  readonly #read: (moment: LogMoment) => string;
  readonly #shown: Shown;

  constructor(read: (moment: LogMoment) => string, shown: Shown) {
    this.#read = read;
    this.#shown = shown;
  }

  put(moment: LogMoment, line: LineBytes): void {
    line.text(this.#read(moment), this.#shown);
  }
}

class CountValue implements LineValue {
  readonly #read: (moment: LogMoment) => number;

  constructor(read: (moment: LogMoment) => number) {
    this.#read = read;
  }

  put(moment: LogMoment, line: LineBytes): void {
    line.count(this.#read(moment));
  }
}

const newId: LineValue = {
  put(_moment, line) {
    line.uuid();
  },
};

/** The same for the line of the request and that of its response, and wherever it stands in one. */
const keptId: LineValue = {
  put({ exchange, slot }, line) {
    const known = exchange.state[slot];
    const id = typeof known === 'string' ? known : randomUUID();
    exchange.state[slot] = id;
    line.written(id);
  },
};
