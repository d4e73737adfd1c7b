// Live line: redrawn in place on a terminal, a line for each change elsewhere.
import { cutTo, printable } from '../output/text-table.ts';
import type { Terminal } from './terminal.ts';

export class LiveLine {
  readonly #terminal: Terminal;
  #isDrawn = false;
  #last = '';

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Shows the line. `plain` is what is printed where nothing can be redrawn, when it differs from before. */
  show(line: string, plain = line): void {
    const { isQuiet, isLive, columns } = this.#terminal;
    if (isQuiet) return;
    if (isLive) {
      // A line as wide as the terminal would wrap.
      this.#terminal.write(`\r\u001b[2K${cutTo(printable(line, true), columns - 1)}`);
      this.#isDrawn = true;
    } else if (plain !== this.#last) {
      this.#last = plain;
      this.#terminal.print(plain);
    }
  }

  /** Leaves the line as it is and goes on below it. */
  end(): void {
    if (this.#isDrawn) this.#terminal.write('\n');
    this.#isDrawn = false;
  }
}

/** `███░░░` */
export function bar(share: number, width = 6): string {
  const full = share <= 0 ? 0 : Math.max(1, Math.floor((share / 100) * width));
  return '█'.repeat(full) + '░'.repeat(width - full);
}
