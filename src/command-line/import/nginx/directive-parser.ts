// Parser of nginx's configuration: directives of words, with blocks, as src/core/ngx_conf_file.c reads them. Files that are
// included become children of their directive.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { failed } from '../../exit.ts';
import { placeText } from '../../input/fault.ts';
import type { InputFile } from '../../input/input-files.ts';
import type { Statement } from '../statement.ts';

const bytesMax = 4 * 1024 * 1024;
const depthMax = 32;
const statementsMax = 100_000;
const includesMax = 200;

interface Budget {
  statements: number;
  includes: number;
}

export function nginxStatements(files: readonly InputFile[]): Statement[] {
  const budget = { statements: statementsMax, includes: includesMax };
  return files.map((file) => ({
    name: '',
    key: '',
    words: [],
    children: new Parser(file, budget, dirname(resolve(file.name))).statements(),
    place: { file: file.name, line: 1, column: 1 },
    isListed: false,
  }));
}

type Token = { readonly is: 'word' | ';' | '{' | '}' | 'end'; readonly text: string; readonly at: number };

class Parser {
  readonly #file: InputFile;
  readonly #text: string;
  readonly #budget: Budget;
  /** Folder of the main file, below which nginx looks for files that are included. */
  readonly #prefix: string;
  #at = 0;
  /** Place up to which lines are counted. */
  #counted = 0;
  #line = 1;
  #lineStart = 0;

  constructor(file: InputFile, budget: Budget, prefix: string) {
    if (file.text.length > bytesMax) throw failed(`${file.name} has more than ${bytesMax / 1024 / 1024} MiB`);
    this.#file = file;
    this.#text = file.text;
    this.#budget = budget;
    this.#prefix = prefix;
  }

  statements(depth = 0): Statement[] {
    const found: Statement[] = [];
    for (;;) {
      const first = this.#token();
      if (first.is === 'end' && depth === 0) return found;
      if (first.is === '}' && depth > 0) return found;
      if (first.is !== 'word')
        throw this.#fault(first.at, `unexpected ${first.is === 'end' ? 'end of the file' : `"${first.is}"`}`);
      found.push(this.#statement(first, depth));
    }
  }

  #statement({ text: name, at }: Token, depth: number): Statement {
    const place = this.#placeOf(at);
    this.#budget.statements -= 1;
    if (this.#budget.statements < 0) throw this.#fault(at, `there are more than ${statementsMax} directives`);
    if (depth > depthMax) throw this.#fault(at, `is nested deeper than ${depthMax} levels`);
    const words: string[] = [];
    for (;;) {
      const { is, text, at: end } = this.#token();
      if (is === 'word') words.push(text);
      else if (is === ';') {
        const own = { name, key: name, words, place, isListed: true };
        return { ...own, ...(name === 'include' ? this.#included(words[0] ?? '') : { children: [] }) };
      } else if (is === '{' && name.endsWith('_by_lua_block')) {
        this.#skipCode(end);
        return { name, key: name, words, children: [], place, isListed: true };
      } else if (is === '{')
        return { name, key: name, words, children: this.statements(depth + 1), place, isListed: true };
      else throw this.#fault(end, `directive "${name}" is not terminated by ";"`);
    }
  }

  /** Reads over a block of Lua up to the brace that closes it; its text is no configuration. */
  #skipCode(start: number): void {
    for (let depth = 1; this.#at < this.#text.length; ) {
      const letter = this.#text[this.#at];
      this.#at += 1;
      depth += letter === '{' ? 1 : letter === '}' ? -1 : 0;
      if (depth === 0) return;
    }
    throw this.#fault(start, 'the block is not closed');
  }

  /** Reads files that a pattern names. Types of media are of no use to a proxy. */
  #included(pattern: string): Pick<Statement, 'children' | 'lacksFiles'> {
    if (basename(pattern) === 'mime.types' || pattern === '') return { children: [] };
    // A file of conf.d that is given alone has the main file's folder above its own.
    const folders = [this.#prefix, dirname(resolve(this.#file.name)), dirname(this.#prefix)];
    const patterns = [...new Set(folders.map((folder) => resolve(folder, pattern)))];
    const paths = patterns.map((each) => globSync(each).sort()).find(({ length }) => length > 0) ?? [];
    const children = paths.flatMap((path) => this.#statementsOf(path));
    const lacksFiles = paths.length === 0 && !patterns.some((each) => isGlob(each) && existsSync(folderOf(each)));
    return { children, ...(lacksFiles && { lacksFiles }) };
  }

  #statementsOf(path: string): Statement[] {
    this.#budget.includes -= 1;
    if (this.#budget.includes < 0) throw failed(`${this.#file.name} includes more than ${includesMax} files`);
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      throw failed(`cannot read ${path}: ${error instanceof Error ? error.message : error}`);
    }
    return new Parser({ name: path, text }, this.#budget, this.#prefix).statements();
  }

  #token(): Token {
    const text = this.#text;
    while (this.#at < text.length) {
      const letter = text[this.#at] ?? '';
      if (/\s/.test(letter)) this.#at += 1;
      else if (letter === '#') {
        const end = text.indexOf('\n', this.#at);
        this.#at = end < 0 ? text.length : end;
      } else break;
    }
    const at = this.#at;
    const letter = text[at];
    if (letter === undefined) return { is: 'end', text: '', at };
    if (letter === ';' || letter === '{' || letter === '}') {
      this.#at += 1;
      return { is: letter, text: letter, at };
    }
    return { is: 'word', text: letter === '"' || letter === "'" ? this.#quoted(letter) : this.#word(), at };
  }

  #quoted(quote: string): string {
    const start = this.#at;
    let word = '';
    for (this.#at += 1; this.#at < this.#text.length; this.#at += 1) {
      const letter = this.#text[this.#at] ?? '';
      if (letter === quote) {
        this.#at += 1;
        return word;
      }
      word += letter === '\\' ? this.#escaped() : letter;
    }
    throw this.#fault(start, 'the quote is not closed');
  }

  #word(): string {
    let word = '';
    while (this.#at < this.#text.length) {
      const letter = this.#text[this.#at] ?? '';
      // A brace behind a dollar sign belongs to the name of a variable.
      const isVariable = letter === '{' && word.endsWith('$');
      if (/[\s;]/.test(letter) || (letter === '{' && !isVariable)) break;
      if (isVariable) {
        const end = this.#text.indexOf('}', this.#at);
        if (end < 0) throw this.#fault(this.#at, 'the name of the variable is not closed');
        word += this.#text.slice(this.#at, end + 1);
        this.#at = end + 1;
        continue;
      }
      word += letter === '\\' ? this.#escaped() : letter;
      this.#at += 1;
    }
    return word;
  }

  /** Text of a backslash and the letter behind it, which is left to stand at. */
  #escaped(): string {
    const next = this.#text[this.#at + 1] ?? '';
    this.#at += 1;
    const plain = { '"': '"', "'": "'", '\\': '\\\\', t: '\t', r: '\r', n: '\n' }[next];
    return plain === undefined ? `\\${next}` : plain;
  }

  #placeOf(at: number) {
    for (; this.#counted < at; this.#counted += 1)
      if (this.#text[this.#counted] === '\n') {
        this.#line += 1;
        this.#lineStart = this.#counted + 1;
      }
    return { file: this.#file.name, line: this.#line, column: at - this.#lineStart + 1 };
  }

  #fault(at: number, message: string): Error {
    return failed(`${placeText(this.#placeOf(at))}  ${message}`);
  }
}

const isGlob = (pattern: string): boolean => /[*?[]/.test(pattern);

/** Folder before the first part of a pattern that stands for several names. */
function folderOf(pattern: string): string {
  const parts = pattern.split('/');
  return parts.slice(0, parts.findIndex(isGlob)).join('/') || '/';
}
