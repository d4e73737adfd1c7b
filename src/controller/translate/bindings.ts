// Listeners that take a route, grouped: those for which one entity of Sluice says the same.
import type { Attachment, CertificateFacts, ListenerFacts } from '../graph/facts.ts';
import type { CommonHostname } from '../graph/hostnames.ts';
import { referenceTo } from './gateway-listeners.ts';

export interface Binding {
  /** References to listeners and sections of Sluice. */
  readonly listenerIds: readonly string[];
  /** Host names of one specificity. Empty: any. */
  readonly hostnames: readonly string[];
  readonly hostRank: number;
  readonly port: number;
  readonly scheme: 'http' | 'https';
  readonly mode: ListenerFacts['mode'];
  /** Client certificate of the Gateway for its backends, and the Gateway that it is of. */
  readonly certificate: (CertificateFacts & { readonly gateway: string }) | undefined;
}

/** Returns the bindings of a route. With `perPort` no binding has listeners of different ports. */
export function bindingsOf(attachments: readonly Attachment[], perPort: boolean): Binding[] {
  const groups = new Map<string, Binding>();
  for (const { gateway, listeners } of attachments) {
    const certificate = gateway.backendCertificate && { ...gateway.backendCertificate, gateway: gateway.key };
    for (const { listener, hostnames } of listeners) {
      if (!listener.isServing) continue;
      const ids = gateway.addresses.map((_, at) => referenceTo(listener, at));
      const scheme = listener.protocol === 'HTTP' ? 'http' : 'https';
      const { mode } = listener;
      for (const [rank, names] of byRank(hostnames)) {
        const key = JSON.stringify([rank, names, perPort ? [listener.port, scheme] : [], certificate?.gateway, mode]);
        const group = groups.get(key);
        const listenerIds = [...new Set([...(group?.listenerIds ?? []), ...ids])];
        groups.set(key, {
          listenerIds,
          hostnames: names,
          hostRank: rank,
          port: listener.port,
          scheme,
          mode,
          certificate,
        });
      }
    }
  }
  return [...groups.values()].filter(({ listenerIds }) => listenerIds.length > 0);
}

function byRank(hostnames: readonly CommonHostname[]): [number, readonly string[]][] {
  if (hostnames.length === 0) return [[0, []]];
  const groups = Map.groupBy(hostnames, ({ rank }) => rank);
  return [...groups].map(([rank, names]) => [rank, names.map(({ name }) => name).sort()]);
}
