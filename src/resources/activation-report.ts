// Report of what became of an activation on the node that was asked, as headers of its answer.
import type { Problem } from '../model/problem.ts';
import { printable, type Warnings, warnings } from './warnings.ts';

/** What has become of an activation on this node. */
export interface Installation {
  /** So many proxy workers have installed it, */
  readonly done: number;
  /** of so many. */
  readonly of: number;
  /** Listeners that do not listen. */
  readonly closed: readonly ClosedListener[];
  /** What is not as it should be with listeners that do; pointers name entities by id. */
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

/** How long an answer waits for the workers of its node. */
export const installWaitMs = 5_000;

/** Warnings that are told one by one: a head has its limits. */
const warningsMax = 20;

export function installedHeaders({
  done,
  of,
  closed,
  warnings: found = [],
}: Installation): Warnings & { 'X-Sluice-Installed': string } {
  const told = found.slice(0, warningsMax).map(({ pointer, message }) => printable(`${pointer} ${message}`));
  if (found.length > warningsMax) told.push(`${found.length - warningsMax} more warnings about listeners`);
  return { 'X-Sluice-Installed': `${done}/${of}`, ...warnings([...closed.map(notListening), ...told]) };
}

const notListening = ({ name, address, port, reason = '' }: ClosedListener): string =>
  `listener ${printable(name, ' ')} does not listen on ${printable(address)}:${port}: ${printable(reason)}`;
