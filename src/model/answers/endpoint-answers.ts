// Answers about what this node does at the moment: endpoints and their drains, certificates, keys of cookies.
import { type CircuitState, circuitStates } from '../circuit-states.ts';
import { flag, integer, list, nullable, object, oneOf, text, time } from '../json-type.ts';
import { Component, Required } from '../property.ts';

const endpoint = '`host:port`; a host that came from a secret is not shown.';
const destinationId = 'Id of the destination.';

export const endpointStates = ['available', 'unhealthy', 'ejected', 'drained'] as const;

/** State of an endpoint as a proxy sees it. */
export class EndpointStatus {
  @Required(text, endpoint)
  readonly endpoint!: string;

  @Required(oneOf(endpointStates), 'Whether it gets new requests; if not, the first reason.')
  readonly state!: (typeof endpointStates)[number];
}

@Component('State of an active destination, as the proxy of this node sees it.')
export class DestinationState {
  @Required(text, destinationId)
  readonly destinationId!: string;

  @Required(text, 'Name: that of the active configuration where it is active.')
  readonly name!: string;

  @Required(nullable(oneOf(circuitStates)), 'State of the circuit breaker; null while nothing is known of it.')
  readonly circuit!: CircuitState | null;

  @Required(list(object(EndpointStatus)), 'In configured order.')
  readonly endpoints!: readonly EndpointStatus[];
}

@Component('Outcome of a drain or of its end.')
export class EndpointDrain {
  @Required(text, destinationId)
  readonly destinationId!: string;

  @Required(text, endpoint)
  readonly endpoint!: string;

  @Required(flag, 'Whether it is drained now.')
  readonly drained!: boolean;
}

@Component('A certificate that is shown to clients or peers.', { as: 'CertificateEnd' })
export class ShownCertificate {
  @Required(text, 'Name of the listener; empty for one of the node itself.')
  readonly listener!: string;

  @Required(text, 'Place: `tls`, `tls/certificates/3`, `controlPlane.tls`.')
  readonly certificate!: string;

  @Required(time, 'End.')
  readonly expiresAt!: string;

  @Required(integer, 'Whole days until then; below 0 when it is over.')
  readonly daysLeft!: number;
}

export const cookieKeyUses = ['next', 'seals', 'opens'] as const;

@Component('A key of signed session cookies, without the key itself.', { as: 'CookieKey' })
export class ShownCookieKey {
  @Required(text, '8 hex digits, the same for the same key; they reveal nothing of it.')
  readonly id!: string;

  @Required(time, 'Time at which it was made.')
  readonly madeAt!: string;

  @Required(
    oneOf(cookieKeyUses),
    '`seals` new cookies, and opens them as all do; `next` seals after the next rotation.',
  )
  readonly use!: (typeof cookieKeyUses)[number];
}
