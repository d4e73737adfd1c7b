// Listeners of a Gateway as listeners of Sluice: one for each address and port, with a section for each of the Gateway's.

import { entityId } from '../graph/entity-id.ts';
import { allListeners, type Entity, type GatewayFacts, type ListenerFacts } from '../graph/facts.ts';
import { nowhere } from './nowhere.ts';

/** Returns the id of the listener of an address. The first address has that of the port. */
const addressedId = (id: string, at: number): string => (at === 0 ? id : entityId(id, 'address', at));

export function listenerEntities(gateway: GatewayFacts): Entity[] {
  const byEntity = Map.groupBy(
    allListeners(gateway).filter(({ isServing }) => isServing),
    (listener) => listener.entityId,
  );
  return gateway.addresses.flatMap((address, at) =>
    [...byEntity].flatMap(([id, listeners]) => {
      const entity = listenerEntity(gateway, { id, address, at }, listeners);
      const isAlone = ![...byEntity].some(([other, [rival]]) => other !== id && rival?.port === listeners[0]?.port);
      return listeners[0]?.mode === 'Passthrough' && isAlone ? [entity, closingEntity(entity.body.id)] : [entity];
    }),
  );
}

/**
 * Closes connections of server names that no route has, as the Gateway API wants it: without an alert. Where another
 * listener shares the port those are its connections.
 */
const closingEntity = (listener: string): Entity => ({
  kind: 'streamRoutes',
  body: {
    id: entityId(listener, 'none'),
    name: `~ ${listener}`,
    match: { listenerIds: [listener] },
    forward: { destinations: [nowhere] },
  },
});

interface GatewayPort {
  readonly id: string;
  readonly address: string;
  readonly at: number;
}

function listenerEntity(
  gateway: GatewayFacts,
  { id, address, at }: GatewayPort,
  listeners: readonly ListenerFacts[],
): Entity {
  const [first] = listeners;
  const { port = 0, targetPort = 0 } = first ?? {};
  const isHttp = first !== undefined && isHttpListener(first);
  const tls = tlsOf(listeners);
  return {
    kind: 'listeners',
    body: {
      id: addressedId(id, at),
      name: [`${gateway.namespace}/${gateway.name}:${port}`, ...suffixOf(first), ...(at === 0 ? [] : [address])].join(
        ' ',
      ),
      address,
      port: targetPort,
      ...(isHttp ? { http2: true } : { protocol: 'tcp' }),
      ...(tls !== undefined && { tls }),
      ...(isHttp && { sections: listeners.map(sectionOf) }),
    },
  };
}

const isHttpListener = ({ protocol }: ListenerFacts): boolean => protocol === 'HTTP' || protocol === 'HTTPS';

const suffixOf = (listener: ListenerFacts | undefined): string[] =>
  listener === undefined || isHttpListener(listener) ? [] : [listener.mode?.toLowerCase() ?? 'tcp'];

/** Reference of a route to the listener of an address: to a section of it where there are any. */
export function referenceTo(listener: ListenerFacts, at: number): string {
  const id = addressedId(listener.entityId, at);
  return isHttpListener(listener) ? `${id}/${listener.section}` : id;
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
