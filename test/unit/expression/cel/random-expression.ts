// Random conditions of the kind that people write at a gateway: well-typed for the most part, with missing keys, wrong
// types and failures among them.
import { seededRandom } from '../../../support/random.ts';

/** Vocabulary of conditions: operands of each type that the environment offers, beside constants. */
export interface Vocabulary {
  readonly texts: readonly string[];
  readonly ints: readonly string[];
  readonly doubles: readonly string[];
  readonly lists: readonly string[];
  /** Numbers of either kind, or nothing of the sort. */
  readonly numbers: readonly string[];
  /** Conditions as they stand. */
  readonly conditions: readonly string[];
}

export class RandomExpression {
  readonly #random: () => number;
  readonly #own: Vocabulary;

  constructor(seed: number, own: Vocabulary) {
    this.#random = seededRandom(seed);
    this.#own = own;
  }

  condition(depth = 3): string {
    const deeper = () => this.condition(depth - 1);
    const leaf = () => this.#comparison();
    if (depth === 0) return leaf();
    return this.#one([
      leaf,
      leaf,
      () => `(${deeper()} && ${deeper()})`,
      () => `(${deeper()} || ${deeper()})`,
      () => `!(${deeper()})`,
      () => `(${deeper()} ? ${deeper()} : ${deeper()})`,
      () => `${this.#list()}.${this.#pick(['exists', 'all', 'exists_one'])}(e, ${this.#aboutItem()})`,
      () => `${this.#list()}.filter(e, ${this.#aboutItem()}).size() ${this.#compare()} ${this.#int()}`,
      () => `${this.#list()}.map(e, e) == ${this.#list()}`,
    ]);
  }

  #comparison(): string {
    return this.#one([
      () => `${this.#text()} ${this.#compare()} ${this.#text()}`,
      () => `${this.#int()} ${this.#compare()} ${this.#int()}`,
      () => `${this.#double()} ${this.#compare()} ${this.#double()}`,
      () => `${this.#pick(this.#own.numbers)} ${this.#compare()} ${this.#pick([this.#int(), this.#double()])}`,
      () => this.#pick(this.#own.conditions),
      () => this.#pick(this.#own.conditions),
      () => `${this.#text()} in ${this.#list()}`,
      () => `${this.#text()}.${this.#pick(['startsWith', 'endsWith', 'contains'])}(${this.#text()})`,
      () => `${this.#text()}.matches("${this.#pick(['^a', '[a-z]+$', '(a|b)*', '^$', '\\\\d'])}")`,
      () => this.#pick(['true', 'false']),
    ]);
  }

  #aboutItem(): string {
    return this.#one([
      () => `e == ${this.#text()}`,
      () => `e.startsWith(${this.#text()})`,
      () => `size(e) > ${this.#int()}`,
      () => `e == ${this.#pick(this.#own.texts)}`,
    ]);
  }

  #text(): string {
    return this.#one([
      () => this.#pick(['"ann"', '"admin"', '""', '"a"', '"é😀"', '"5"']),
      () => this.#pick(this.#own.texts),
      () => this.#pick(this.#own.texts),
      () => `string(${this.#pick(['1', '-7', '1.5', 'true'])})`,
      () => `(${this.#pick(this.#own.texts)} + "x")`,
    ]);
  }

  #int(): string {
    return this.#one([
      () => this.#pick(['0', '1', '2', '5', '-3', '9223372036854775807']),
      () => this.#pick([...this.#own.ints, 'size("é😀")', 'size([1, 2])']),
      () => `int(${this.#pick(['"42"', '"x"', '2.9', '-2.9'])})`,
      () =>
        `(${this.#pick(['1', '7', '9223372036854775807'])} ${this.#pick(['+', '-', '*', '/', '%'])} ${this.#pick(['0', '2', ...this.#own.ints])})`,
    ]);
  }

  #double(): string {
    return this.#one([
      () => this.#pick(['0.0', '1.5', '-2.25', '5.0', '1e300']),
      () => this.#pick(this.#own.doubles),
      () => `double(${this.#pick(['1', '"2.5"'])})`,
      () => `(1.5 ${this.#pick(['+', '-', '*', '/'])} ${this.#pick(['0.0', '2.5', ...this.#own.doubles])})`,
    ]);
  }

  #list(): string {
    return this.#pick([...this.#own.lists, '["ann", "admin"]', '["a"]']);
  }

  #compare(): string {
    return this.#pick(['==', '!=', '<', '<=', '>', '>=']);
  }

  #one(makers: readonly (() => string)[]): string {
    return this.#pick(makers)();
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.#random() * items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }
}
