// Pin cookies: the two levels of balancing give them different default names (contract.md §7.7).
import { destinationDefaults, routeDefaults } from './defaults.ts';
import { Duration, Flag, Token } from './field.ts';

const destinationPin = routeDefaults.destinationBalancing.cookie;
const endpointPin = destinationDefaults.endpointBalancing.cookie;

export class DestinationPinCookie {
  @Token('Cookie name.', { default: destinationPin.name })
  readonly name?: string;

  @Duration('Life of the cookie. Below one second: until the browser closes.', { default: destinationPin.ttl })
  readonly ttl?: string;
}

const signed = 'The cookie carries the placement itself, sealed with keys of the cluster: no store is needed.';

export class StickyDestinationCookie extends DestinationPinCookie {
  @Flag(signed, { default: destinationPin.signed })
  readonly signed?: boolean;
}

export class EndpointPinCookie {
  @Token('Cookie name.', { default: endpointPin.name })
  readonly name?: string;

  @Duration('Life of the cookie. Below one second: until the browser closes.', { default: endpointPin.ttl })
  readonly ttl?: string;
}

export class StickyEndpointCookie extends EndpointPinCookie {
  @Flag(signed, { default: endpointPin.signed })
  readonly signed?: boolean;
}
