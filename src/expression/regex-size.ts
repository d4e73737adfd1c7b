// Size of a pattern once its repetitions are written out, as the engine writes them: `(?:ab{50}){20}` is twenty times
// fifty-one. A few characters can ask for half a million steps, which take seconds to compile and hundreds of megabytes
// to keep, so the size is computed before anything is compiled.

/** Characters, classes and groups with every `{n,m}` written out. Too high at most for what is no valid pattern. */
export function expandedSize(pattern: string): number {
  /** Sizes of what stands before each open group. */
  const outer: number[] = [];
  let size = 0;
  /** The piece that a repetition behind it would repeat. */
  let last = 0;
  const add = (piece: number): void => {
    size += piece;
    last = piece;
  };
  for (let at = 0; at < pattern.length; ) {
    const character = pattern[at];
    if (character === '(') {
      outer.push(size);
      size = 0;
      at++;
    } else if (character === ')') {
      const inner = size;
      size = outer.pop() ?? 0;
      add(inner + 1);
      at++;
    } else if (character === '\\' && pattern[at + 1] === 'Q') {
      const end = pattern.indexOf('\\E', at + 2);
      const text = pattern.slice(at + 2, end < 0 ? undefined : end);
      size += text.length;
      last = 1;
      at += text.length + 4;
    } else if (character === '{') {
      const [whole = '{', least, comma, most] = counted(pattern, at);
      if (least === undefined) add(1);
      else {
        const times = Math.max(1, Number(most || least) + (comma !== undefined && most === '' ? 1 : 0));
        size += last * (times - 1);
        last *= times;
      }
      at += whole.length;
    } else {
      add(1);
      at = endOfOne(pattern, at);
    }
  }
  return outer.reduce((sum, before) => sum + before, size);
}

function counted(pattern: string, at: number): readonly (string | undefined)[] {
  repetition.lastIndex = at;
  return repetition.exec(pattern) ?? [];
}

const repetition = /\{(\d+)(,)?(\d*)\}/y;

/** Returns the end of the escape, the class or the character at `at`. */
function endOfOne(pattern: string, at: number): number {
  const sticky = pattern[at] === '[' ? charClass : escaped;
  sticky.lastIndex = at;
  return at + (sticky.exec(pattern)?.[0].length ?? 1);
}

/** `\x{10FFFF}` and `\p{Greek}` have braces of their own. */
const escaped = /\\(?:[xpP]\{[^}]*\}|.)/sy;

/** A `]` at its beginning is one of its members. */
const charClass = /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]/sy;
