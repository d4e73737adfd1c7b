// Renaming: a node that ran alone gets a name and addresses when its settings name a cluster (architecture.md §7.11).
// Only a sole voter may change its own record: no other node remembers the old one.
import type { BootState, Config, Member } from '../core/types.ts';

/** The configuration with `self` in the place of the only voter `former`, or undefined when it is not that alone. */
export function renamedConfig(boot: BootState, former: Member['id'], self: Member): Config | undefined {
  const config = latestConfig(boot);
  if (config === undefined || former === self.id) return undefined;
  const { voters, outgoing, learners } = config;
  const isAlone = voters.length === 1 && voters[0] === former && outgoing.length === 0 && learners.length === 0;
  return isAlone ? { ...config, voters: [self.id], members: [self] } : undefined;
}

/** The newest configuration in the log, committed or not. */
export function latestConfig({ entries, checkpoint }: BootState): Config | undefined {
  for (const entry of entries.toReversed()) if (entry.kind === 'config') return entry.config;
  return checkpoint?.config;
}
