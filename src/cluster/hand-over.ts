// A leader that is about to stop lets another node lead first (architecture.md §7.10), so that whoever waits for its
// drain has a leader all the time: this node takes requests until the end, and relays their writes.
import type { Clock } from '../clock.ts';
import type { Cluster } from './cluster.ts';

const lookMs = 10;

/** Resolves once another node leads, at once where no other can, and after `withinMs` in any case. */
export async function handOver(cluster: Cluster, clock: Clock, withinMs: number): Promise<void> {
  const end = clock.monotonicMs() + withinMs;
  const before = await cluster.status();
  if (before?.role !== 'leader') return;
  const canLead = before.peers.some(({ id, heard }) => heard && before.config.voters.includes(id));
  if (!canLead) return;
  cluster.transfer(undefined);
  while (clock.monotonicMs() < end) {
    const leader = (await cluster.status())?.leader;
    if (leader !== undefined && leader !== before.id) return;
    await new Promise<void>((resolve) => void clock.after(lookMs, resolve));
  }
}
