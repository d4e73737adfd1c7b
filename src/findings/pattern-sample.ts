// Samples of patterns: a text that a pattern matches, and the text that all its matches begin with. Both are guesses of a
// small parser; callers test a sample before they show it.

/**
 * Returns the text with which every match begins; empty where that is unknown: alternatives, flags, classes.
 */
export function literalStart(pattern: string): string {
  if (hasAlternatives(pattern)) return '';
  let text = '';
  let at = pattern.startsWith('^') ? 1 : 0;
  while (at < pattern.length) {
    const group = at === 0 || pattern[at] === '(' ? groupAt(pattern, at) : undefined;
    if (group !== undefined) {
      const repeated = '*?{+'.includes(pattern[group.end] ?? ' ');
      if (repeated || hasAlternatives(group.inside)) return text;
      const inside = literalStart(group.inside);
      text += inside;
      if (inside !== plainText(group.inside)) return text;
      at = group.end;
      continue;
    }
    const found = literalAt(pattern, at);
    if (found === undefined || '*?{'.includes(pattern[found.end] ?? ' ')) return text;
    text += found.text;
    at = found.end;
    if (pattern[at] === '+') return text;
  }
  return text;
}

/** Returns a text that the pattern is meant to match; undefined where the parser gives up. */
export function sampleOf(pattern: string): string | undefined {
  try {
    const reader = new SampleReader(pattern);
    const text = reader.alternatives();
    return reader.isDone ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The text of a group of literals alone; undefined for others. */
function plainText(pattern: string): string | undefined {
  let text = '';
  for (let at = 0; at < pattern.length; ) {
    const found = literalAt(pattern, at);
    if (found === undefined || '*?{+'.includes(pattern[found.end] ?? ' ')) return undefined;
    text += found.text;
    at = found.end;
  }
  return text;
}

const special = '\\^$.|?*+()[]{}';

function literalAt(pattern: string, at: number): { readonly text: string; readonly end: number } | undefined {
  const character = pattern[at] ?? '';
  if (character === '\\') {
    const next = pattern[at + 1] ?? '';
    return /[^0-9A-Za-z]/.test(next) ? { text: next, end: at + 2 } : undefined;
  }
  return special.includes(character) ? undefined : { text: character, end: at + 1 };
}

/** A group without flags that begins there. */
function groupAt(pattern: string, at: number): { readonly inside: string; readonly end: number } | undefined {
  if (pattern[at] !== '(' || (pattern[at + 1] === '?' && pattern[at + 2] !== ':')) return undefined;
  const from = pattern[at + 1] === '?' ? at + 3 : at + 1;
  const end = [...levels(pattern)].find(
    ({ place, depth }) => place > at && pattern[place] === ')' && depth === 0,
  )?.place;
  // Groups are looked at from the outside in, so that the first end at depth 0 belongs to this one.
  return end === undefined ? undefined : { inside: pattern.slice(from, end), end: end + 1 };
}

const hasAlternatives = (pattern: string): boolean =>
  [...levels(pattern)].some(({ place, depth }) => depth === 0 && pattern[place] === '|');

/** Places of parentheses and bars outside of classes and escapes, with the depth behind them. */
function* levels(pattern: string): Generator<{ readonly place: number; readonly depth: number }> {
  let depth = 0;
  let inClass = false;
  for (let place = 0; place < pattern.length; place++) {
    const character = pattern[place];
    if (character === '\\') place += 1;
    else if (inClass) inClass = character !== ']';
    else if (character === '[') {
      inClass = true;
      if (pattern[place + 1] === '^') place += 1;
      if (pattern[place + 1] === ']') place += 1;
    } else if (character === '(' || character === ')') {
      depth += character === '(' ? 1 : -1;
      yield { place, depth };
    } else if (character === '|') yield { place, depth };
  }
}

/** Most rounds of a counted repetition. */
const roundsMax = 64;
const ofClass: Readonly<Record<string, string>> = { d: '1', w: 'a', s: ' ', D: 'a', S: 'a', W: '-' };
const nothingOf = 'bBAz';

class SampleReader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  get isDone(): boolean {
    return this.#at >= this.#pattern.length;
  }

  /** The first alternative. */
  alternatives(): string {
    const first = this.#sequence();
    while (this.#take('|')) this.#sequence();
    return first;
  }

  #sequence(): string {
    let text = '';
    while (!this.isDone && !'|)'.includes(this.#pattern[this.#at] ?? '')) text += this.#repeated(this.#atom());
    return text;
  }

  #repeated(text: string): string {
    const count = /^(?:\*|\?|\+|\{(\d+)(?:,\d*)?\})\??/.exec(this.#pattern.slice(this.#at));
    if (count === null) return text;
    this.#at += count[0].length;
    if (count[1] !== undefined) return text.repeat(Math.min(Number(count[1]), roundsMax));
    return count[0].startsWith('+') ? text : '';
  }

  #atom(): string {
    const character = this.#pattern[this.#at++] ?? '';
    if (character === '(') {
      if (this.#take('?')) {
        const head = /^(?:P?<\w+>|:)/.exec(this.#pattern.slice(this.#at));
        if (head === null) throw new RangeError('a flag');
        this.#at += head[0].length;
      }
      const inside = this.alternatives();
      if (!this.#take(')')) throw new RangeError('an open group');
      return inside;
    }
    if (character === '[') return this.#class();
    if (character === '.') return 'a';
    if (character === '^' || character === '$') return '';
    if (character !== '\\') return character;
    const escaped = this.#pattern[this.#at++] ?? '';
    if (nothingOf.includes(escaped)) return '';
    if (ofClass[escaped] !== undefined) return ofClass[escaped];
    if (/[0-9A-Za-z]/.test(escaped)) throw new RangeError('an escape');
    return escaped;
  }

  #class(): string {
    const from = this.#at;
    const isNegated = this.#take('^');
    const first = this.#at;
    if (this.#pattern[this.#at] === ']') this.#at += 1;
    while (!this.isDone && this.#pattern[this.#at] !== ']') this.#at += this.#pattern[this.#at] === '\\' ? 2 : 1;
    if (!this.#take(']')) throw new RangeError('an open class');
    if (isNegated) {
      const refused = new RegExp(this.#pattern.slice(from - 1, this.#at));
      const found = [...'a0-_AZ9z~'].find((each) => refused.test(each));
      if (found === undefined) throw new RangeError('a class');
      return found;
    }
    const character = this.#pattern[first] ?? '';
    if (character !== '\\') return character;
    const escaped = this.#pattern[first + 1] ?? '';
    return ofClass[escaped] ?? escaped;
  }

  #take(text: string): boolean {
    const isThere = this.#pattern.startsWith(text, this.#at);
    if (isThere) this.#at += text.length;
    return isThere;
  }
}
