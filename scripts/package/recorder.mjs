// Program that the packager runs once: evaluates a script as the executable does and writes the code that V8 compiled for it.
import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { compile, evaluate } from 'program:program/assets.js';
import { collectYoungAlone, holdYoungGeneration } from 'program:src/young-generation.js';

const [, , name, file] = process.argv;

/** Flags that make the code the same at each packaging (`recorderOptions`), as they are where the program runs: their values are part of it. */
const usual = [
  '--hash-seed=0',
  '--random-seed=0',
  '--flush-bytecode',
  '--concurrent-marking',
  '--sparkplug',
  '--concurrent-recompilation',
];

collectYoungAlone();
holdYoungGeneration();
// Scripts of threads evaluate their modules and end there, for this is no thread.
process.on('unhandledRejection', () => undefined);
record().then(() => process.exit(0));

async function record() {
  const script = compile(name);
  try {
    await evaluate(script).evaluateAll?.();
  } catch (error) {
    if (name === 'server') throw error;
  }
  await new Promise(setImmediate);
  for (const flag of usual) setFlagsFromString(flag);
  writeFileSync(file, script.createCachedData());
}
