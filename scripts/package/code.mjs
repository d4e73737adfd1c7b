// Code of the scripts, as V8 compiles it: a start that takes it costs a third less. It is the same at each packaging.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of, writeExecutable } from './executable.mjs';
import { bundleScripts } from './scripts.mjs';

const names = ['client', 'server', 'proxy', 'raft'];

/** Order of hashes, ages of code and marks of a collector beside it would differ from run to run. */
const recorderOptions = ['--hash-seed=1', '--random-seed=1', '--no-flush-bytecode', '--no-concurrent-marking'];

/** Returns the code of each script by the name of its asset, made by the Node that ships. */
export async function recordCode({ modules, assets, folder, ...executable }) {
  const { scripts } = await bundleScripts(modules, { recorder: join(import.meta.dirname, 'recorder.mjs') });
  const output = join(folder, 'recorder');
  writeExecutable({
    ...executable,
    assets: { ...assets, 'boot.cjs': scripts['recorder.cjs'] },
    folder: join(folder, 'recorder-assets'),
    output,
    options: recorderOptions,
  });
  return Object.fromEntries(
    names.map((name) => [`${name}.code`, agreedCode(output, name, join(folder, `${name}.code`))]),
  );
}

/** Recordings that have to be the same. On a busy machine one in a while differs in a few bytes. */
const agreeing = 3;
const recordingsMax = 12;

function agreedCode(output, name, file) {
  const seen = new Map();
  for (let n = 0; n < recordingsMax; n++) {
    const { status, stderr } = spawnSync(output, [name, file], { encoding: 'utf8', env: {} });
    if (status !== 0) throw new Error(`the code of ${name}.cjs could not be recorded: ${stderr}`);
    const code = readFileSync(file);
    const sum = sha256Of(code);
    seen.set(sum, (seen.get(sum) ?? 0) + 1);
    if (seen.get(sum) === agreeing) return code;
  }
  throw new Error(`${recordingsMax} recordings of the code of ${name}.cjs do not agree`);
}
