// Contents of the program where it is one file: assets that Node's single executable carries. The packager puts this module
// in place of disk.ts (scripts/package/scripts.mjs).
import { getAsset } from 'node:sea';
import { Worker } from 'node:worker_threads';
import { mayUnpackIn } from './addon.ts';
import { assetBytes, assets } from './assets.ts';
import type { ProgramContents } from './contents.ts';

export const contents: ProgramContents = {
  manifest: () => assets().manifest,
  newThread(name, options) {
    return new Worker(`${getAsset('thread.cjs', 'utf8')}\nthread.begin('${name}');`, { ...options, eval: true });
  },
  explorerFile: async (name) => Buffer.from(assetBytes(`explorer/${name}`)),
  uiFile: async (name) => Buffer.from(assetBytes(`ui/${name}`)),
  // The code that V8 compiled is an asset beside each script.
  keepCompiled: () => undefined,
  mayUnpackIn,
};
