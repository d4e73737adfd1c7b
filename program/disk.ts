// Contents of the program in a folder: sources, or the chunks of a build (docs/decisions/chunks.md). The executable has
// executable.ts in place of this module.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import module, { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Manifest, ProgramContents, ThreadName } from './contents.ts';

const require = createRequire(import.meta.url);
const extension = extname(import.meta.url);

/** First modules of the threads. */
const threads: Readonly<Record<ThreadName, URL>> = {
  proxy: new URL(`../src/proxy/worker/begin${extension}`, import.meta.url),
  raft: new URL(`../raft/member/worker${extension}`, import.meta.url),
};

export const contents: ProgramContents = {
  manifest: () => JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Manifest,
  newThread: (name, options) => new Worker(threads[name], options),
  explorerFile: (name) => readFile(require.resolve(`swagger-ui-dist/${name}`)),
  // Sources have no dashboard beside them: that of the build stands in.
  uiFile: (name) => readFile(new URL(extension === '.js' ? `../ui/${name}` : `../dist/ui/${name}`, import.meta.url)),
  keepCompiled() {
    // Sources are not kept: they change.
    if (extension === '.js') module.enableCompileCache(fileURLToPath(new URL('../.compiled', import.meta.url)));
  },
  mayUnpackIn: () => undefined,
};
