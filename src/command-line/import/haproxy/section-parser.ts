// Parser of HAProxy's configuration: lines of words, in sections, as its manual says in "Quoting and escaping" (chapter 2.2).
import { failed } from '../../exit.ts';
import { placeText } from '../../input/fault.ts';
import type { InputFile } from '../../input/input-files.ts';
import type { Statement } from '../statement.ts';

const bytesMax = 4 * 1024 * 1024;
const statementsMax = 100_000;
const wordsMax = 1024;

const sectionNames = new Set(
  (
    'global defaults frontend backend listen userlist peers resolvers mailers cache program http-errors ring log-forward ' +
    'fcgi-app crt-store traces log-profile acme'
  ).split(' '),
);

interface Line {
  readonly words: readonly string[];
  readonly at: number;
}

/** Returns a root for each file, with its sections; the statements of a section are its children. */
export function haproxyStatements(files: readonly InputFile[]): Statement[] {
  let budget = statementsMax;
  return files.map((file) => {
    if (file.text.length > bytesMax) throw failed(`${file.name} has more than ${bytesMax / 1024 / 1024} MiB`);
    const sections: Statement[] = [];
    let inside: Statement[] | undefined;
    const places = placesOf(file);
    for (const { words, at } of new Lines(file, places).all()) {
      const [name = '', ...rest] = words;
      budget -= 1;
      if (budget < 0) throw failed(`${placeText(places(at))}  there are more than ${statementsMax} statements`);
      const isSection = sectionNames.has(name);
      const children: Statement[] = [];
      const statement = { name, key: name, words: rest, children, place: places(at), isListed: true };
      if (isSection || name.startsWith('.')) sections.push(statement);
      else if (inside === undefined) throw failed(`${placeText(places(at))}  "${name}" stands in no section`);
      else inside.push(statement);
      if (isSection) inside = children;
    }
    return { name: '', key: '', words: [], children: sections, place: places(0), isListed: false };
  });
}

/** Returns a function from offsets, each at or behind the one before, to places. */
function placesOf({ name, text }: InputFile) {
  let [counted, line, start] = [0, 1, 0];
  return (at: number) => {
    for (; counted < at; counted += 1)
      if (text[counted] === '\n') {
        line += 1;
        start = counted + 1;
      }
    return { file: name, line, column: at - start + 1 };
  };
}

class Lines {
  readonly #text: string;
  readonly #places: ReturnType<typeof placesOf>;
  #at = 0;

  constructor({ text }: InputFile, places: ReturnType<typeof placesOf>) {
    this.#text = text;
    this.#places = places;
  }

  *all(): Generator<Line> {
    while (this.#at < this.#text.length) {
      const line = this.#line();
      if (line !== undefined) yield line;
    }
  }

  /** Reads up to the end of the line; undefined where it is empty. No backslash continues a line. */
  #line(): Line | undefined {
    const words: string[] = [];
    let word: string | undefined;
    let first: number | undefined;
    const end = () => {
      if (word !== undefined) words.push(word);
      word = undefined;
    };
    for (; this.#at < this.#text.length; this.#at += 1) {
      const letter = this.#text[this.#at] ?? '';
      if (letter === '\n' || letter === '#') break;
      if (/\s/.test(letter)) {
        end();
        continue;
      }
      first ??= this.#at;
      word = (word ?? '') + (letter === '"' || letter === "'" ? this.#quoted(letter) : this.#plain(letter));
      if (words.length > wordsMax) throw this.#fault(first, `has more than ${wordsMax} words`);
    }
    end();
    const next = this.#text.indexOf('\n', this.#at);
    this.#at = next < 0 ? this.#text.length : next + 1;
    return first === undefined ? undefined : { words, at: first };
  }

  #plain(letter: string): string {
    if (letter !== '\\' || /^(?:\r?\n|$)/.test(this.#text.slice(this.#at + 1, this.#at + 3))) return letter;
    this.#at += 1;
    return escaped(this.#text[this.#at] ?? '', /[ #'"\\]/);
  }

  /** Reads a quoted text and stays at its closing quote. Only double quotes know backslashes. */
  #quoted(quote: string): string {
    const start = this.#at;
    let text = '';
    for (this.#at += 1; this.#at < this.#text.length; this.#at += 1) {
      const letter = this.#text[this.#at] ?? '';
      if (letter === quote) return text;
      if (letter === '\n') break;
      if (letter === '\\' && quote === '"') {
        this.#at += 1;
        text += escaped(this.#text[this.#at] ?? '', /["\\$]/);
      } else text += letter;
    }
    throw this.#fault(start, 'the quote is not closed');
  }

  #fault(at: number, message: string): Error {
    return failed(`${placeText(this.#places(at))}  ${message}`);
  }
}

const escaped = (letter: string, known: RegExp): string =>
  known.test(letter) ? letter : ({ n: '\n', r: '\r', t: '\t' }[letter] ?? `\\${letter}`);
