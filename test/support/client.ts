// The client of the command line as a process, against a server, in a folder of its own.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { endOf, newFolder, spawnSluice } from './sluice-process.ts';

export interface ClientOptions {
  /** URLs of servers. */
  readonly servers: readonly string[];
  readonly apiKey?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface ClientResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export class Client {
  /** Working directory of all commands; contexts are below it. */
  readonly folder = newFolder();
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  get env(): NodeJS.ProcessEnv {
    const { servers, apiKey, env } = this.#options;
    return {
      SLUICE_SERVER: servers.join(','),
      XDG_CONFIG_HOME: join(this.folder, 'config'),
      SLUICE_CONTEXT: '',
      SLUICE_API_KEY: apiKey ?? '',
      ...env,
    };
  }

  /** Writes a file below the folder. */
  write(name: string, text: string): string {
    const file = join(this.folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** Starts a command whose standard input is open. */
  start(...args: readonly string[]) {
    return spawnSluice(args, this.env, this.folder, undefined, 'pipe');
  }

  /** Runs a command to its end; `input` is its standard input. */
  async run(args: readonly string[], input = ''): Promise<ClientResult> {
    const child = this.start(...args);
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    return await endOf(child);
  }

  /** Runs a command that has to end with 0; resolves with its standard output. */
  async output(...args: readonly string[]): Promise<string> {
    const { stdout, stderr, code } = await this.run(args);
    if (code !== 0) throw new Error(`sluice ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  }
}
