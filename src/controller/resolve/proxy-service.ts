// Service by which clients reach the proxies: its addresses are those of all Gateways, and its ports say where listeners
// listen.
import { isIP } from 'node:net';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import type { GatewayAddress } from '../graph/facts.ts';
import type { Service } from '../kubernetes-kinds.ts';

export interface ProxyService {
  /** Key of the Service: `namespace/name`. */
  readonly key: string;
  /** Empty: it has none yet. */
  readonly addresses: readonly GatewayAddress[];
  /** Returns the port of proxies that a port of the Service leads to; undefined where there is none. */
  targetPort(port: number): number | undefined;
}

/** Returns the Service of the settings; undefined: Gateways have addresses of a pool. */
export function proxyService({ settings, store }: ControllerGraph): ProxyService | undefined {
  if (settings.service === undefined) return undefined;
  const { namespace, name } = settings.service;
  const service = store.read('Service', namespace, name);
  return {
    key: `${namespace}/${name}`,
    addresses: service === undefined ? [] : addressesOf(service),
    targetPort(number) {
      const port = service?.spec?.ports?.find((each) => each.port === number && (each.protocol ?? 'TCP') === 'TCP');
      const target = port?.targetPort ?? port?.port;
      // A name would be one of the pods.
      return typeof target === 'number' ? target : undefined;
    },
  };
}

/** Addresses of a load balancer, else those that are set by hand; of a Service without one that in the cluster. */
function addressesOf({ spec, status }: Service): GatewayAddress[] {
  const ingress = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? []);
  const external = ingress.length > 0 ? ingress : (spec?.externalIPs ?? []);
  const values = external.length > 0 || spec?.type === 'LoadBalancer' ? external : [spec?.clusterIP ?? ''];
  return values
    .filter((value) => value !== '' && value !== 'None')
    .map((value) => ({ type: isIP(value) === 0 ? 'Hostname' : 'IPAddress', value }));
}
