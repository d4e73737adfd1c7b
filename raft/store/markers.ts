// Markers: two small files next to the log for facts that the log itself cannot be trusted with (raft.md A18).
// POISON: never take part again. SUSPECT: take part only once a leader has shown that nothing acknowledged is missing.
import { join } from 'node:path';

import { readIfPresent, removeDurably, writeDurably } from '../../disk/durable-file.ts';

export type Marker = 'POISON' | 'SUSPECT';

const reasonBytesMax = 4096;

/** Durable when it resolves. An existing reason stays: the first one is the cause, later ones are consequences. */
export async function setMarker(directory: string, marker: Marker, reason: string): Promise<void> {
  const path = join(directory, marker);
  if ((await readIfPresent(path)) === undefined) await writeDurably(path, `${reason.slice(0, reasonBytesMax)}\n`);
}

/** The reason, or undefined when the marker is not set. */
export async function readMarker(directory: string, marker: Marker): Promise<string | undefined> {
  const text = await readIfPresent(join(directory, marker));
  return text?.trim();
}

export async function clearMarker(directory: string, marker: Marker): Promise<void> {
  await removeDurably(join(directory, marker));
}
