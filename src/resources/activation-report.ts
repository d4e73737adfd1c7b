// Report of the installation of an activation on the node that was asked, as headers of its answer.
import type { Problem } from '../model/problem.ts';
import { firstOf, printable, type Warnings, warnings } from './warnings.ts';

/** Installation of an activation on this node. */
export interface Installation {
  /** Number of proxy workers that have installed it, */
  readonly done: number;
  /** and number of all workers. */
  readonly of: number;
  /** Listeners that do not listen. */
  readonly closed: readonly ClosedListener[];
  /** Problems of listeners that do listen; pointers name entities by id. */
  readonly warnings?: readonly Problem[];
}

interface ClosedListener {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly reason?: string;
}

/** Resolves when every worker has it, at the latest after `withinMs`. */
export type Installed = (index: number, withinMs: number) => Promise<Installation>;

/** Milliseconds that an answer waits for the workers of its node. */
export const installWaitMs = 5_000;

export function installedHeaders({
  done,
  of,
  closed,
  warnings: found = [],
}: Installation): Warnings & { 'X-Sluice-Installed': string } {
  const silent = firstOf(closed, notListening, (count) => `${count} more listeners do not listen`);
  const odd = firstOf(found, oddity, (count) => `${count} more warnings about listeners`);
  return { 'X-Sluice-Installed': `${done}/${of}`, ...warnings([...silent, ...odd]) };
}

const notListening = ({ name, address, port, reason = '' }: ClosedListener): string =>
  `listener ${printable(name, ' ')} does not listen on ${printable(address)}:${port}: ${printable(reason)}`;

const oddity = ({ pointer, message }: Problem): string => printable(`${pointer} ${message}`);
