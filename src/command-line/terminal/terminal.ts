// Terminal of the client: standard streams, colour, questions, and whether a person sits at it.
import { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

export interface TerminalOptions {
  readonly noColor: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
}

export class Terminal {
  readonly #hasColor: boolean;
  readonly #errorHasColor: boolean;
  readonly #quiet: boolean;
  readonly #verbose: boolean;

  constructor({ noColor, quiet, verbose }: TerminalOptions) {
    // NO_COLOR counts when it is set and not empty (no-color.org).
    const mayColor = !noColor && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
    this.#hasColor = mayColor && process.stdout.isTTY === true;
    this.#errorHasColor = mayColor && process.stderr.isTTY === true;
    this.#quiet = quiet;
    this.#verbose = verbose;
  }

  /** A person reads standard error and can answer. */
  get isInteractive(): boolean {
    return process.stdin.isTTY === true && process.stderr.isTTY === true;
  }

  /** Standard output is redrawn in place. */
  get isLive(): boolean {
    return process.stdout.isTTY === true && process.env.TERM !== 'dumb';
  }

  get columns(): number {
    return process.stdout.columns || 80;
  }

  /** Writes a line of the result to standard output. */
  print(line: string): void {
    process.stdout.write(`${line}\n`);
  }

  /** Writes the text of the result as it is. */
  write(text: string): void {
    process.stdout.write(text);
  }

  /** Writes a line of progress; `--quiet` leaves it out. */
  note(line: string): void {
    if (!this.#quiet) process.stdout.write(`${line}\n`);
  }

  /** Writes a line to standard error that `--quiet` leaves out. */
  hint(line: string): void {
    if (!this.#quiet) process.stderr.write(`${line}\n`);
  }

  /** Writes a line for a person who waits; `--quiet` leaves it out, and so does a standard error that is no terminal. */
  progress(line: string): void {
    if (process.stderr.isTTY) this.hint(line);
  }

  warn(text: string): void {
    process.stderr.write(`${this.#errorHasColor ? styleText('yellow', 'warning:', plain) : 'warning:'} ${text}\n`);
  }

  /** Writes a line to standard error for `--verbose` alone. */
  trace(line: string): void {
    if (this.#verbose) process.stderr.write(`${line}\n`);
  }

  fail(line: string): void {
    process.stderr.write(`${line}\n`);
  }

  get isQuiet(): boolean {
    return this.#quiet;
  }

  paint(style: Style, text: string): string {
    return this.#hasColor ? styleText(style, text, plain) : text;
  }

  /** Asks on standard error; resolves with the line, or an empty one at the end of the input. */
  async ask(question: string): Promise<string> {
    return await this.#answer(question, process.stderr);
  }

  /** Asks for a secret, which is not shown as it is typed. */
  async askHidden(question: string): Promise<string> {
    const { Writable } = await import('node:stream');
    try {
      const nowhere = new Writable({ write: (_, __, done) => done() });
      return await this.#answer('', nowhere, () => process.stderr.write(question));
    } finally {
      process.stderr.write('\n');
    }
  }

  /** `onReady` is called when the terminal itself shows no longer what is typed. */
  async #answer(question: string, output: NodeJS.WritableStream, onReady?: () => void): Promise<string> {
    const { createInterface } = await import('node:readline');
    const lines = createInterface({ input: process.stdin, output, terminal: process.stdin.isTTY === true });
    onReady?.();
    let isAnswered = false;
    return await new Promise((resolve) => {
      lines.once('close', () => {
        if (!isAnswered) output.write('\n');
        resolve('');
      });
      // The terminal tells the interface, not the process.
      lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      lines.question(question, (answer) => {
        isAnswered = true;
        resolve(answer.trim());
        lines.close();
      });
    });
  }
}

/** The streams were judged already. */
const plain = { validateStream: false } as const;
