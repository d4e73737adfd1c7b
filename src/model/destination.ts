// A destination: an upstream and how to reach it (contract.md §2.3).
import { destinationDefaults } from './defaults.ts';
import { DestinationOptions } from './destination-options.ts';
import { Entity } from './entity.ts';
import { Host, ListOf, Nested, Port, Uint } from './field.ts';

export type { DestinationOptions } from './destination-options.ts';

const { weight, priority } = destinationDefaults.endpoint;
const endpointsMax = 10_000;

export class Endpoint {
  @Host('DNS name or IP address.', { required: true, example: '10.0.1.14' })
  readonly host!: string;

  @Port('TCP port to connect to.', { required: true, example: 8080 })
  readonly port!: number;

  @Uint('Share of the requests beside the other endpoints of its priority. LEAST_REQUEST does not look at it.', {
    min: 1,
    max: 1000,
    default: weight,
  })
  readonly weight?: number;

  @Uint('Only the lowest number that has an available endpoint serves.', { max: 15, default: priority })
  readonly priority?: number;
}

export class Destination extends Entity {
  static readonly summary = 'Upstreams: endpoints, their balancing, health and limits.';

  static readonly example = {
    id: 'backend',
    name: 'backend',
    host: '127.0.0.1',
    port: 9000,
    options: { timeouts: { connect: '2s' } },
  };

  @Host('DNS name or IP address. The only endpoint when `endpoints` is empty.', {
    required: true,
    example: 'catalog.internal',
  })
  readonly host!: string;

  @Port('TCP port to connect to.', { required: true, example: 8080 })
  readonly port!: number;

  @ListOf(Endpoint, 'Addresses that take the place of host and port when there are any.', { lengthMax: endpointsMax })
  readonly endpoints?: readonly Endpoint[];

  @Nested(DestinationOptions, 'How the destination is reached and watched.', { absentIsEmpty: true })
  readonly options?: DestinationOptions;
}
