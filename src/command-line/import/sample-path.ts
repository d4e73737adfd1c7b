// Sample of a regular expression: a path that it matches, for the request of a case.

/** Returns a path that the expression matches from its start, or undefined where none is found. */
export function samplePath(pattern: string): string | undefined {
  const text = sampleText(pattern);
  const path = text === undefined || text.startsWith('/') ? text : `/${text}`;
  return path !== undefined && expressionOf(pattern).test(path) && !/[\s?#%]/.test(path) ? path : undefined;
}

/** Returns a text that the expression matches, or undefined where none is found. */
export function sampleText(pattern: string): string | undefined {
  try {
    const text = new Sampler(bodyOf(pattern)).alternatives();
    // An expression that asks for more than its first letters may be a path.
    return [text, `/${text}`].find((each) => expressionOf(pattern).test(each));
  } catch {
    // An expression of RE2 that JavaScript has not: it has no sample.
    return undefined;
  }
}

const bodyOf = (pattern: string): string => pattern.replace(/^\(\?i\)/, '').replace(/^\^/, '');

const expressionOf = (pattern: string): RegExp =>
  new RegExp(`^(?:${bodyOf(pattern)})`, pattern.startsWith('(?i)') ? 'i' : '');

class Sampler {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Sample of the first alternative; the others are read over. */
  alternatives(): string {
    const first = this.#sequence();
    while (this.#peek() === '|') {
      this.#at += 1;
      this.#sequence();
    }
    return first;
  }

  #sequence(): string {
    let sample = '';
    while (this.#at < this.#text.length && this.#peek() !== '|' && this.#peek() !== ')') {
      const one = this.#atom();
      sample += one.repeat(this.#times());
    }
    return sample;
  }

  #atom(): string {
    const letter = this.#next();
    if (letter === '(') {
      const group = /^\?(?:P?<[A-Za-z0-9_]+>|[a-z]*:)/.exec(this.#text.slice(this.#at));
      this.#at += group?.[0].length ?? 0;
      const inner = this.alternatives();
      this.#at += 1;
      return inner;
    }
    if (letter === '[') return this.#class();
    if (letter === '\\') return escaped(this.#next());
    if (letter === '.') return 'x';
    return letter === '^' || letter === '$' ? '' : letter;
  }

  /** Member of the class, found by trial. */
  #class(): string {
    const start = this.#at;
    if (this.#peek() === '^') this.#at += 1;
    if (this.#peek() === ']') this.#at += 1;
    while (this.#at < this.#text.length && this.#peek() !== ']') this.#at += this.#peek() === '\\' ? 2 : 1;
    const members = new RegExp(`[${this.#text.slice(start, this.#at)}]`);
    this.#at += 1;
    return [...'a1A-_./~'].find((each) => members.test(each)) ?? '';
  }

  /** Reads a quantifier and returns the least count that it takes. */
  #times(): number {
    const found = /^(?:([*+?])|\{(\d+)(?:,\d*)?\})[?+]?/.exec(this.#text.slice(this.#at));
    if (found === null) return 1;
    this.#at += found[0].length;
    if (found[1] === '+') return 1;
    return found[1] === undefined ? Math.min(Number(found[2]), 64) : 0;
  }

  #peek(): string {
    return this.#text[this.#at] ?? '';
  }

  #next(): string {
    this.#at += 1;
    return this.#text[this.#at - 1] ?? '';
  }
}

const escaped = (letter: string): string =>
  ({ d: '1', w: 'a', s: ' ', D: 'a', W: '-', S: 'a', b: '', z: '', A: '' })[letter] ?? letter;
