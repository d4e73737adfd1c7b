// Standard input as a whole. It is there once: a second reader would find it empty.
import { wrongUsage } from './exit.ts';

let wasRead = false;

/** Resolves with all bytes of standard input; an interruption can come meanwhile. Rejects with wrong usage at the second call. */
export async function readStandardInput(): Promise<Buffer> {
  if (wasRead) throw wrongUsage('standard input is named twice');
  wasRead = true;
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
