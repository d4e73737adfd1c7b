// Commands of the user in a shell: an editor, or a password manager. They run beside the client, so that an interruption can come
// meanwhile.
import type { StdioOptions } from 'node:child_process';

export interface ShellEnd {
  /** Why it failed; undefined where its exit code is 0. */
  readonly failure: string | undefined;
  /** Text of its outputs, where they are pipes. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command; resolves with its end, at the latest after `withinMs`. */
export async function runInShell(
  line: string,
  {
    args = [],
    stdio,
    withinMs,
  }: { readonly args?: readonly string[]; readonly stdio: StdioOptions; readonly withinMs?: number },
): Promise<ShellEnd> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn('/bin/sh', ['-c', line, 'sh', ...args], { stdio });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (part: string) => {
      texts[name] += part;
    });
  return await new Promise((resolve) => {
    const end = (failure: string | undefined) => {
      clearTimeout(timer);
      resolve({ failure, ...texts });
    };
    const giveUp = () => {
      child.kill('SIGKILL');
      // Programs that the command has started may hold them.
      for (const output of [child.stdout, child.stderr]) output?.destroy();
      end(`no end within ${(withinMs ?? 0) / 1000} s`);
    };
    const timer = withinMs === undefined ? undefined : setTimeout(giveUp, withinMs);
    child.once('error', ({ message }) => end(message));
    child.once('close', (code, signal) => end(code === 0 ? undefined : (signal ?? `exit code ${code}`)));
  });
}
