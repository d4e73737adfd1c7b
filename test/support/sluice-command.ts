// The command line of this tree, from its sources.
import { execFile } from 'node:child_process';

/** Runs one command; `code` is -1 where it was ended by a signal. */
export const sluice = (args: readonly string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const program = ['--import', './test/support/decorators.mjs', 'src/main.ts', ...args];
    execFile(process.execPath, program, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr }),
    );
  });
