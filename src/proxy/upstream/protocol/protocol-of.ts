// Choice of the protocol by the options of a destination.
import { destinationDefaults } from '../../../model/defaults.ts';
import type { DestinationOptions } from '../../../model/destination.ts';
import { http1 } from './http1.ts';
import { http2 } from './http2.ts';
import type { UpstreamProtocol } from './upstream-protocol.ts';

export const protocolOf = (options: DestinationOptions | undefined): UpstreamProtocol =>
  (options?.http2 ?? destinationDefaults.http2) ? http2 : http1;
