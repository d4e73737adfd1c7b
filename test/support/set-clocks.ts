// Clocks of the nodes of a cluster, as a test sets them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterNode } from './node-cluster.ts';
import { newFolder } from './sluice-process.ts';

const preload = new URL('set-clock.mjs', import.meta.url).pathname;

export class SetClocks {
  readonly #folder = newFolder();

  /** Variables for the environment of a node. */
  readonly env = (nodeId: string): NodeJS.ProcessEnv => ({
    NODE_OPTIONS: `--import=${preload}`,
    SLUICE_CLOCK: join(this.#folder, nodeId),
  });

  /** Sets the wall clock of a node, in milliseconds beyond that of the machine. */
  set({ nodeId }: Pick<ClusterNode, 'nodeId'>, aheadMs: number): void {
    writeFileSync(join(this.#folder, nodeId), String(aheadMs));
  }
}
