// A Sluice process that tells what it holds once its garbage is collected.
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { newFolder, type SluiceProcess, startSluice } from './sluice-process.ts';

export interface Held {
  /** Bytes of the whole process. */
  readonly rss: number;
  /** Open files of the whole process. */
  readonly descriptors: number;
  readonly threads: readonly {
    readonly thread: number;
    readonly heapUsed: number;
    readonly external: number;
    /** Number of active handles of the thread, by kind. */
    readonly handles: Readonly<Record<string, number>>;
  }[];
}

export interface GaugedSluice {
  readonly sluice: SluiceProcess;
  /** Collects garbage in every thread, then looks. */
  held(): Promise<Held>;
}

const preload = new URL('gauge.mjs', import.meta.url).pathname;

/** Two proxy workers. `more`: settings beside theirs, in YAML. */
export async function gaugedSluice(more = ''): Promise<GaugedSluice> {
  const path = join(newFolder(), 'gauge');
  const sluice = await startSluice({
    more: `proxy: { workers: 2 }\n${more}`,
    env: { NODE_OPTIONS: `--import=${preload} --expose-gc`, SLUICE_GAUGE: path },
  });
  return { sluice, held: async () => JSON.parse(await text(connect(path))) };
}
