// Session of one command: terminal, connection, form of the output, and what is under way when it is interrupted.
import { Api } from './connection/api-client.ts';
import { type ConnectionOptions, connectionOf } from './connection/connection.ts';
import { exitCodes, failed, wrongUsage } from './exit.ts';
import { type Form, formOf } from './output/form.ts';
import { Terminal, type TerminalOptions } from './terminal/terminal.ts';

export interface SessionOptions extends ConnectionOptions, TerminalOptions {
  readonly output: string | undefined;
  readonly timeout: string | undefined;
  readonly yes: boolean;
  /** Words of the command. */
  readonly command: string;
  readonly extraForms: readonly string[];
  /** Version of the program. */
  readonly version: string;
  /** Returns what a shell loads to complete commands. */
  readonly completionFor: (shell: string) => Promise<string>;
}

export class Session {
  readonly terminal: Terminal;
  readonly form: Form;
  readonly options: SessionOptions;
  /** Work that an interruption leaves, and how to undo it; absent where there is nothing. */
  underWay: string | undefined;
  /** Undoes what the command has done for as long as it runs; an interruption calls it in place of ending at once. */
  onInterrupt: (() => void) | undefined;
  wasInterrupted = false;
  /** An editor has the terminal: Ctrl-C is a key of it. */
  isBehindEditor = false;
  #api: Promise<Api> | undefined;
  /** Changes that are sent and not answered. */
  #writes = 0;

  constructor(options: SessionOptions) {
    this.options = options;
    this.terminal = new Terminal(options);
    this.form = formOf(options.output, options.extraForms);
  }

  /** Client of the API; contexts and keys are read when it is first asked for. */
  api(): Promise<Api> {
    this.#api ??= this.#connect();
    return this.#api;
  }

  async #connect(): Promise<Api> {
    const { terminal, options } = this;
    const { targets, apiKey, timeoutMs } = await connectionOf(options, (text) => terminal.warn(text));
    return new Api({
      servers: targets,
      apiKey,
      timeoutMs,
      command: options.command,
      warn: (text) => terminal.warn(text),
      trace: (line) => terminal.trace(line),
      onWait: (text) => terminal.progress(text),
      onWrite: (change) => {
        this.#writes += change;
      },
    });
  }

  /**
   * Asks before something that is not easily undone. Throws wrong usage where there is no terminal and no `--yes`, and a failure
   * where the answer is not yes.
   */
  async confirm(question: string): Promise<void> {
    if (this.options.yes) return;
    if (!this.terminal.isInteractive) throw wrongUsage(`${question} Without a terminal say --yes.`);
    const answer = await this.terminal.ask(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer)) throw failed('not confirmed: nothing was done');
  }

  /** Message and exit code of an interruption. */
  interrupted(): { readonly message: string; readonly code: number } {
    const open = this.#writes > 0 ? 'the server may have carried it out' : undefined;
    const told = this.underWay ?? open;
    return { message: `interrupted${told === undefined ? '' : `: ${told}`}`, code: exitCodes.interrupted };
  }
}
