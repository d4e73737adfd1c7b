// Requests that the proxies of the whole fleet have recorded: each process answers for its own.
import type { RecentSource } from '../model/recent-request.ts';
import { askedRecords, ownRecords } from '../request-log/record-sources.ts';
import type { RecordSource } from '../request-log/recorded-requests.ts';
import type { FleetAdmin } from './fleet-admin.ts';

export interface FleetRecords {
  readonly sources: readonly RecordSource[];
  /** Nodes that do not answer, and proxies that are not connected. */
  readonly absent: readonly string[];
}

/** Returns the processes that can be asked, and the names of the others. */
export async function fleetRecords(
  admin: Pick<FleetAdmin, 'list' | 'recorded'>,
  nodeId: string,
  own: RecentSource,
  where: string | undefined,
): Promise<FleetRecords> {
  const { proxies, unreachableNodes } = await admin.list();
  const others = proxies.filter(({ id, embedded }) => !embedded || id !== nodeId);
  const connected = others.filter(({ state }) => state !== 'disconnected');
  const lost = others.filter(({ state }) => state === 'disconnected');
  return {
    sources: [
      ownRecords(nodeId, own, where),
      ...connected.map((proxy) => askedRecords(proxy.id, where, (question) => admin.recorded(proxy, question))),
    ],
    absent: [...unreachableNodes, ...lost.map(({ id }) => id)],
  };
}
