// Pool of connections to one endpoint, by protocol. Loaded by workers alone.
import type { EndpointAddress } from '../endpoint-address.ts';
import type { EndpointPool, PoolPlaces } from '../endpoint-pool.ts';
import { ExclusivePool } from './exclusive-pool.ts';
import { SharedPool } from './shared-pool.ts';
import type { UpstreamProtocol } from './upstream-protocol.ts';

const pools: Readonly<
  Record<UpstreamProtocol['name'], new (address: EndpointAddress, pool: PoolPlaces) => EndpointPool>
> = { http1: ExclusivePool, http2: SharedPool };

export const newPool = ({ name }: UpstreamProtocol, address: EndpointAddress, pool: PoolPlaces): EndpointPool =>
  new pools[name](address, pool);
