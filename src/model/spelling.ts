// Spellings of a text: its bytes in UTF-8 and lower case, with and without the escapes that other parts of the program write,
// so that a secret is found in whichever of them it is shown.

/** Bytes that a text may stand for, and where in the text each begins; one place more for the end. */
export interface Reading {
  readonly bytes: Buffer;
  readonly places: readonly number[];
}

interface Escapes {
  /** `%C3%A9` is one character. */
  readonly percent: boolean;
  /** `\n`, `\u00e9` and `\.` are one character each, as in JSON and in quoted patterns. */
  readonly backslash: boolean;
  /** Characters up to U+00FF are bytes, as in fields of HTTP. */
  readonly latin1: boolean;
}

const plain: Escapes = { percent: false, backslash: false, latin1: false };

/** A needle for each spelling in which a secret can be looked for. Blanks around it are not part of it. */
export function needleOf(secret: string): Buffer[] {
  const text = secret.trim().length < 4 ? secret : secret.trim();
  const needles = [read(text, plain).bytes];
  if (text.includes('%')) needles.push(read(text, { ...plain, percent: true }).bytes);
  // Beyond ASCII readings keep the case, since they may be bytes.
  if (/[^\0-\x7f]/.test(text)) needles.push(read(text.toLowerCase(), plain).bytes);
  return needles;
}

/** All readings of a text that differ. */
export function readingsOf(text: string): Reading[] {
  const percents = text.includes('%') ? [false, true] : [false];
  const backslashes = text.includes('\\') ? [false, true] : [false];
  const latin1s = /[\x80-\xff]/.test(text) && !/[^\0-\xff]/.test(text) ? [false, true] : [false];
  return percents.flatMap((percent) =>
    backslashes.flatMap((backslash) => latin1s.map((latin1) => read(text, { percent, backslash, latin1 }))),
  );
}

function read(text: string, { percent, backslash, latin1 }: Escapes): Reading {
  const bytes: number[] = [];
  const places: number[] = [];
  const encoding = latin1 ? 'latin1' : 'utf8';
  for (let at = 0; at < text.length; ) {
    const escaped =
      percent && text[at] === '%'
        ? percentAt(text, at)
        : backslash && text[at] === '\\'
          ? backslashAt(text, at)
          : undefined;
    const { length, content } = escaped ?? characterAt(text, at);
    for (const byte of typeof content === 'number' ? [content] : Buffer.from(content, encoding)) {
      bytes.push(byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte);
      places.push(at);
    }
    at += length;
  }
  places.push(text.length);
  return { bytes: Buffer.from(bytes), places };
}

/** Characters that are read, and what they stand for: a byte or text. */
interface Token {
  readonly length: number;
  readonly content: number | string;
}

function characterAt(text: string, at: number): Token {
  const content = String.fromCodePoint(text.codePointAt(at) ?? 0);
  return { length: content.length, content };
}

function percentAt(text: string, at: number): Token | undefined {
  const digits = text.slice(at + 1, at + 3);
  return /^[0-9a-fA-F]{2}$/.test(digits) ? { length: 3, content: Number.parseInt(digits, 16) } : undefined;
}

const named: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

function backslashAt(text: string, at: number): Token | undefined {
  const next = text[at + 1] ?? '';
  const [units = ''] = /^(?:\\u[0-9a-fA-F]{4}){1,2}/.exec(text.slice(at, at + 12)) ?? [];
  if (units !== '') {
    const first = Number.parseInt(units.slice(2, 6), 16);
    const isPair = units.length === 12 && first >= 0xd800 && first < 0xdc00;
    const second = isPair ? Number.parseInt(units.slice(8), 16) : undefined;
    const content = String.fromCharCode(first, ...(second === undefined ? [] : [second]));
    return { length: isPair ? 12 : 6, content };
  }
  if (named[next] !== undefined) return { length: 2, content: named[next] };
  return /^[^0-9A-Za-z]$/.test(next) ? { length: 2, content: next } : undefined;
}
