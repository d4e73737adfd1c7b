// Random conditions of the kind that people write at a gateway, over `claims`: well-typed for the most part, with
// missing keys, wrong types and failures among them.
import type { CelInput } from '@bufbuild/cel';
import { seededRandom } from '../../../support/random.ts';

/**
 * What the conditions speak of. No null, which one of the evaluators takes for absent; `nested` is a map wherever it is,
 * for has() of anything else is false to the library, and a failure to the other two as the language has it.
 */
export const contexts: readonly Readonly<Record<string, CelInput>>[] = [
  { sub: 'ann', level: 5, admin: true, roles: ['admin', 'ops'], nested: { team: 'a', size: 2.5 } },
  { sub: '', level: -1.5, admin: false, roles: [], nested: {} },
  { sub: 'é😀', level: 9007199254740992, roles: ['ops', 'ops'], nested: { team: 'admin', size: 0 } },
  { level: '5', admin: 'yes', roles: 'admin', nested: { team: 7, size: 'big' } },
  {},
];

export class RandomExpression {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
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
      () => `claims.level ${this.#compare()} ${this.#pick([this.#int(), this.#double()])}`,
      () => `has(claims.${this.#key()})`,
      () => `has(claims.nested.${this.#pick(['team', 'size', 'none'])})`,
      () => `"${this.#key()}" in claims`,
      () => `${this.#text()} in ${this.#list()}`,
      () => `${this.#text()}.${this.#pick(['startsWith', 'endsWith', 'contains'])}(${this.#text()})`,
      () => `${this.#text()}.matches("${this.#pick(['^a', '[a-z]+$', '(a|b)*', '^$', '\\\\d'])}")`,
      () => `claims.${this.#key()}`,
      () => this.#pick(['true', 'false']),
    ]);
  }

  #aboutItem(): string {
    return this.#one([
      () => `e == ${this.#text()}`,
      () => `e.startsWith(${this.#text()})`,
      () => `size(e) > ${this.#int()}`,
      () => 'e == claims.sub',
    ]);
  }

  #text(): string {
    return this.#one([
      () => this.#pick(['"ann"', '"admin"', '""', '"a"', '"é😀"', '"5"']),
      () => 'claims.sub',
      () => 'claims["sub"]',
      () => 'claims.nested.team',
      () => `claims.roles[${this.#pick(['0', '1', '7', '-1'])}]`,
      () => `string(${this.#pick(['1', '-7', '1.5', 'true', 'claims.level', 'claims.admin'])})`,
      () => '(claims.sub + "x")',
    ]);
  }

  #int(): string {
    return this.#one([
      () => this.#pick(['0', '1', '2', '5', '-3', '9223372036854775807']),
      () => `size(${this.#pick(['claims.sub', 'claims.roles', 'claims', '"é😀"', '[1, 2]'])})`,
      () => `int(${this.#pick(['claims.level', '"42"', '"x"', '2.9', '-2.9'])})`,
      () =>
        `(${this.#pick(['1', '7', '9223372036854775807'])} ${this.#pick(['+', '-', '*', '/', '%'])} ${this.#pick(['0', '2', 'size(claims)'])})`,
    ]);
  }

  #double(): string {
    return this.#one([
      () => this.#pick(['0.0', '1.5', '-2.25', '5.0', '1e300']),
      () => 'claims.nested.size',
      () => `double(${this.#pick(['1', 'claims.level', '"2.5"'])})`,
      () => `(1.5 ${this.#pick(['+', '-', '*', '/'])} ${this.#pick(['0.0', '2.5', 'claims.nested.size'])})`,
    ]);
  }

  #list(): string {
    return this.#pick(['claims.roles', '["ann", "admin"]', '["a"]', '[claims.sub, "ops"]']);
  }

  #key(): string {
    return this.#pick(['sub', 'level', 'admin', 'roles', 'nested', 'none']);
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
