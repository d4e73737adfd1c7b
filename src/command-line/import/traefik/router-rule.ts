// Rules of Traefik's routers (`Host(…) && PathPrefix(…)`), as alternatives of matchers that must all agree.

export interface Matcher {
  readonly name: string;
  readonly values: readonly string[];
  readonly isNegated: boolean;
}

const alternativesMax = 64;
const depthMax = 16;

/** Returns alternatives of matchers, or the problem of the rule. */
export function parseRule(text: string): Matcher[][] | string {
  try {
    const reader = new RuleReader(text);
    const parsed = reader.either(0);
    return reader.isAtEnd ? parsed : `unexpected ${JSON.stringify(text.slice(reader.at, reader.at + 10))}`;
  } catch (error) {
    if (error instanceof RuleError) return error.message;
    throw error;
  }
}

class RuleError extends Error {}

class RuleReader {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    this.#blanks();
    return this.at >= this.#text.length;
  }

  either(depth: number, isNegated = false): Matcher[][] {
    const parts = [this.#all(depth, isNegated)];
    while (this.#takes('||')) parts.push(this.#all(depth, isNegated));
    return isNegated ? crossed(parts) : bounded(parts.flat());
  }

  #all(depth: number, isNegated: boolean): Matcher[][] {
    const parts = [this.#one(depth, isNegated)];
    while (this.#takes('&&')) parts.push(this.#one(depth, isNegated));
    return isNegated ? bounded(parts.flat()) : crossed(parts);
  }

  #one(depth: number, isNegated: boolean): Matcher[][] {
    if (depth > depthMax) throw new RuleError('is nested too deep');
    if (this.#takes('!')) return this.#one(depth + 1, !isNegated);
    if (this.#takes('(')) {
      const inner = this.either(depth + 1, isNegated);
      if (!this.#takes(')')) throw new RuleError('a parenthesis is not closed');
      return inner;
    }
    const [name] = /^[A-Za-z]+/.exec(this.#text.slice(this.at)) ?? [];
    if (name === undefined) throw new RuleError('a matcher is missing');
    this.at += name.length;
    if (!this.#takes('(')) throw new RuleError(`${name} has no arguments`);
    const values: string[] = [];
    while (!this.#takes(')')) {
      const [whole, , plain, quoted] = /^(`([^`]*)`|"((?:[^"\\]|\\.)*)")/.exec(this.#text.slice(this.at)) ?? [];
      if (whole === undefined) throw new RuleError(`an argument of ${name} is not quoted`);
      values.push(plain ?? (quoted ?? '').replace(/\\(.)/g, '$1'));
      this.at += whole.length;
      this.#takes(',');
    }
    return [[{ name, values, isNegated }]];
  }

  #takes(token: string): boolean {
    this.#blanks();
    if (!this.#text.startsWith(token, this.at)) return false;
    this.at += token.length;
    this.#blanks();
    return true;
  }

  #blanks(): void {
    while (/\s/.test(this.#text[this.at] ?? '')) this.at += 1;
  }
}

function crossed(parts: readonly Matcher[][][]): Matcher[][] {
  return parts.reduce<Matcher[][]>(
    (all, next) => bounded(all.flatMap((left) => next.map((right) => [...left, ...right]))),
    [[]],
  );
}

function bounded(alternatives: Matcher[][]): Matcher[][] {
  if (alternatives.length > alternativesMax) throw new RuleError(`has more than ${alternativesMax} alternatives`);
  return alternatives;
}
