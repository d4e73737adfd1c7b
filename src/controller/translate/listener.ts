// Listeners of a Gateway as listeners of Sluice: one for each address and port, with a section for each of the Gateway's.

import { entityId } from '../graph/entity-id.ts';
import { allListeners, type Entity, type GatewayFacts, type ListenerFacts } from '../graph/facts.ts';

/** Returns the id of the listener of an address. The first address has that of the port. */
export const addressedId = (id: string, at: number): string => (at === 0 ? id : entityId(id, 'address', at));

export function listenerEntities(gateway: GatewayFacts): Entity[] {
  const byPort = Map.groupBy(
    allListeners(gateway).filter(({ isServing }) => isServing),
    ({ port }) => port,
  );
  return gateway.addresses.flatMap((address, at) =>
    [...byPort].map(([port, listeners]) => listenerEntity(gateway, { address, at, port }, listeners)),
  );
}

interface Place {
  readonly address: string;
  readonly at: number;
  readonly port: number;
}

function listenerEntity(
  gateway: GatewayFacts,
  { address, at, port }: Place,
  listeners: readonly ListenerFacts[],
): Entity {
  const id = addressedId(listeners[0]?.entityId ?? '', at);
  const isHttp = listeners.some(({ protocol }) => protocol === 'HTTP' || protocol === 'HTTPS');
  const tls = tlsOf(listeners);
  return {
    kind: 'listeners',
    body: {
      id,
      name: `${gateway.namespace}/${gateway.name}:${port}${at === 0 ? '' : ` ${address}`}`,
      address,
      port,
      ...(isHttp ? { http2: true } : { protocol: 'tcp' }),
      ...(tls !== undefined && { tls }),
      ...(isHttp && { sections: listeners.map(sectionOf) }),
    },
  };
}

const sectionOf = ({ section, hostname }: ListenerFacts) => ({
  name: section,
  ...(hostname !== undefined && { hostnames: [hostname] }),
});

function tlsOf(listeners: readonly ListenerFacts[]): object | undefined {
  const ending = listeners.filter(({ certificates }) => certificates.length > 0);
  if (ending.length === 0)
    return listeners.some(({ mode }) => mode === 'Passthrough') ? { mode: 'passthrough' } : undefined;
  const forAll = ending.find(({ hostname }) => hostname === undefined);
  const [first] = (forAll ?? ending[0])?.certificates ?? [];
  const further = ending.flatMap(({ certificates, hostname }) =>
    certificates
      .filter((each) => hostname !== undefined || each !== first)
      .map((certificate) => ({ ...certificate, ...(hostname !== undefined && { serverNames: [hostname] }) })),
  );
  const clients = ending.find((each) => each.clients !== undefined)?.clients;
  return {
    ...first,
    ...(further.length > 0 && { certificates: further }),
    ...(forAll === undefined && { unknownServerName: 'reject' }),
    strictServerName: ending.some(({ protocol }) => protocol === 'HTTPS'),
    ...(clients !== undefined && { clientAuth: clients }),
  };
}
