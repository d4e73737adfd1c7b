// Contents of the program beside its code, whichever way it was installed: disk.ts has them where the program is a folder,
// executable.ts where it is one file.
import type { Worker, WorkerOptions } from 'node:worker_threads';
import type { prettyFactory } from 'pino-pretty';
import type Protobuf from 'protobufjs';
import type * as Undici from 'undici';

/** Threads that the program starts by name. */
export type ThreadName = 'proxy' | 'raft';

export interface Manifest {
  readonly version: string;
  /** Commit that an executable was built of; absent in a clone. */
  readonly commit?: string;
  /** Time of that commit, ISO 8601. */
  readonly builtAt?: string;
  /** Version of each package that the program uses. */
  readonly dependencies: Readonly<Record<string, string>>;
}

export interface ProgramContents {
  manifest(): Manifest;
  newThread(name: ThreadName, options: WorkerOptions): Worker;
  /** Resolves with a file of swagger-ui-dist, by its base name. */
  explorerFile(name: string): Promise<Buffer>;
  /** Resolves with a file of the dashboard by its name; `ui.json` lists them. Rejects where there is none. */
  uiFile(name: string): Promise<Buffer>;
  /** Keeps the code that V8 compiles for this thread, where that is kept at all. */
  keepCompiled(): void;
  /** Names a directory in which native code may be unpacked, for a program that carries its own. */
  mayUnpackIn(directory: string): void;
}

/** Packages that few configurations need, evaluated at their first call. */
export interface ProgramPackages {
  undici(): typeof Undici;
  protobuf(): typeof Protobuf;
  pinoPretty(): { readonly prettyFactory: typeof prettyFactory };
}
