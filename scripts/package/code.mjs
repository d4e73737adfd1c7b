// Code of the scripts, as V8 compiles it: a start that takes it costs a third less. It is the same at each packaging.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { sha256Of, writeExecutable } from './executable.mjs';
import { bundleScripts } from './scripts.mjs';

const names = ['client', 'server', 'proxy', 'raft'];

/**
 * Order of hashes, ages of code, marks of a collector beside it and of compilers beside it (a function that one of them has
 * begun on is marked in its code) would differ from run to run.
 */
const recorderOptions = [
  '--hash-seed=1',
  '--random-seed=1',
  '--no-flush-bytecode',
  '--no-concurrent-marking',
  '--no-sparkplug',
  '--no-concurrent-recompilation',
];

/** Returns the code of each script by the name of its asset, made by the Node that ships. Throws when that would not take it. */
export async function recordCode(program) {
  const recorder = await helper(program, 'recorder', recorderOptions);
  const code = Object.fromEntries(
    names.map((name) => [`${name}.code`, agreedCode(recorder, name, join(program.folder, `${name}.code`))]),
  );
  const acceptance = await helper({ ...program, assets: { ...program.assets, ...code } }, 'acceptance', []);
  const rejected = run(acceptance, names);
  if (rejected !== '') throw new Error(`V8 rejects the recorded code of ${rejected}`);
  return code;
}

/** Writes the executable whose first script is one of the packager's, and returns its path. */
async function helper({ modules, assets, folder, ...executable }, name, options) {
  const { scripts } = await bundleScripts(modules, { [name]: join(import.meta.dirname, `${name}.mjs`) });
  const output = join(folder, name);
  writeExecutable({
    ...executable,
    assets: { ...assets, 'boot.cjs': scripts[`${name}.cjs`] },
    folder: join(folder, `${name}-assets`),
    output,
    options,
  });
  return output;
}

/** Recordings that have to be the same. */
const agreeing = 3;
const recordingsMax = 12;

function agreedCode(output, name, file) {
  const seen = new Map();
  for (let n = 0; n < recordingsMax; n++) {
    run(output, [name, file]);
    const code = readFileSync(file);
    const sum = sha256Of(code);
    seen.set(sum, (seen.get(sum) ?? 0) + 1);
    if (seen.get(sum) === agreeing) return code;
  }
  throw new Error(`${recordingsMax} recordings of the code of ${name}.cjs do not agree`);
}

function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env: {} });
  if (status !== 0) throw new Error(`${basename(command)} ${args.join(' ')} failed: ${stderr}`);
  return stdout;
}
