// A Sluice process in which a test can make things go wrong while it runs.
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { newFolder, type SluiceProcess, startSluice } from './sluice-process.ts';

export interface TroubledSluice {
  readonly sluice: SluiceProcess;
  /**
   * `block`: the main thread does nothing for 3 s. `store`: every further write to the store fails. `throw`, `heap`:
   * the first proxy worker throws, or uses up its memory. Resolves when it has been heard.
   */
  make(trouble: 'block' | 'store' | 'throw' | 'heap'): Promise<void>;
}

const preload = new URL('trouble.mjs', import.meta.url).pathname;

/** Two proxy workers; a thread may use 192 MB, so that it is soon out of memory. */
export async function troubledSluice(): Promise<TroubledSluice> {
  const path = join(newFolder(), 'trouble');
  const sluice = await startSluice({
    more: 'proxy: { workers: 2 }',
    env: { NODE_OPTIONS: `--import=${preload} --max-old-space-size=192`, SLUICE_TROUBLE: path },
  });
  return {
    sluice,
    async make(trouble) {
      const socket = connect(path);
      socket.write(trouble);
      socket.resume();
      await once(socket, 'close');
    },
  };
}
