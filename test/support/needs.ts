// Programs that a test needs beside Node. A machine that lacks one leaves the test out and says so by name.
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { givenSockets } from './given-sockets.ts';

/** Skips the running test or hook when one of the programs is not on PATH, or a file (`/…`) is not there. */
export function needs(context: Mocha.Context, ...programs: readonly string[]): void {
  const missing = programs.filter((program) => !(program.startsWith('/') ? existsSync(program) : isOnPath(program)));
  if (missing.length === 0) return;
  process.stderr.write(`left out, needs ${missing.join(', ')}: ${context.test?.fullTitle()}\n`);
  context.skip();
}

/** Skips the running test or hook for an executable, whose Node takes no module from outside (`SLUICE_BUILD`). */
export function needsPreload(context: Mocha.Context): void {
  if (process.env.SLUICE_BUILD === undefined) return;
  process.stderr.write(`left out, needs a Node that takes modules: ${context.test?.fullTitle()}\n`);
  context.skip();
}

/** Skips the running test for what sockets of Node give up (docs/decisions/sockets-of-node.md). */
export function needsNativeSockets(context: Mocha.Context): void {
  if (givenSockets !== 'node') return;
  process.stderr.write(`left out, needs native sockets: ${context.test?.fullTitle()}\n`);
  context.skip();
}

function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
