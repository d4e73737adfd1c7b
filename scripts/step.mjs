// Runs one long command quietly and says how it goes: a ticking line on a terminal, a line every ten seconds
// elsewhere, and the command's own output only when it fails.
import { spawn } from 'node:child_process';

/** Resolves to whether `command` exited with 0. */
export async function step(title, command, args, options = {}) {
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1000);
  const isTerminal = process.stderr.isTTY === true;
  process.stderr.write(isTerminal ? `${title} …` : `${title} …\n`);
  const ticker = setInterval(
    () => process.stderr.write(isTerminal ? `\r${title} … ${seconds()} s` : `${title} … ${seconds()} s\n`),
    isTerminal ? 1_000 : 10_000,
  );

  const output = [];
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => output.push(chunk));
  const failure = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : `exit ${code ?? signal}`));
  });

  clearInterval(ticker);
  process.stderr.write(`${isTerminal ? '\r' : ''}${title}: ${failure ?? `done in ${seconds()} s`}\n`);
  if (failure !== undefined) process.stderr.write(Buffer.concat(output).toString('utf8'));
  return failure === undefined;
}
