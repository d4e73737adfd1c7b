// Schemas of endpoints, drains, certificates and keys of cookies for the OpenAPI document.
import type { ComponentSchemas } from './component-schemas.ts';

const endpoint = { type: 'string', description: '`host:port`; a host that came from a secret is not shown.' } as const;
const destinationId = { type: 'string', description: 'Id of the destination.' } as const;

export const endpointSchemas: ComponentSchemas = {
  DestinationState: {
    type: 'object',
    description: 'State of an active destination, as the proxy of this node sees it.',
    required: ['destinationId', 'name', 'circuit', 'endpoints'],
    properties: {
      destinationId,
      name: { type: 'string', description: 'Name: that of the active configuration where it is active.' },
      circuit: {
        type: 'string',
        nullable: true,
        description: 'Circuit breaker: `closed`, `open` or `half-open`; null while nothing is known of it.',
      },
      endpoints: {
        type: 'array',
        description: 'In configured order.',
        items: {
          type: 'object',
          required: ['endpoint', 'state'],
          properties: {
            endpoint,
            state: {
              type: 'string',
              enum: ['available', 'unhealthy', 'ejected', 'drained'],
              description: 'Whether it gets new requests; if not, the first reason.',
            },
          },
        },
      },
    },
  },
  CertificateEnd: {
    type: 'object',
    description: 'A certificate that is shown to clients or peers.',
    required: ['listener', 'certificate', 'expiresAt', 'daysLeft'],
    properties: {
      listener: { type: 'string', description: 'Name of the listener; empty for one of the node itself.' },
      certificate: { type: 'string', description: 'Place: `tls`, `tls/certificates/3`, `controlPlane.tls`.' },
      expiresAt: { type: 'string', format: 'date-time', description: 'End.' },
      daysLeft: { type: 'integer', description: 'Whole days until then; below 0 when it is over.' },
    },
  },
  CookieKey: {
    type: 'object',
    description: 'A key of signed session cookies, without the key itself.',
    required: ['id', 'madeAt', 'use'],
    properties: {
      id: { type: 'string', description: '8 hex digits, the same for the same key; they reveal nothing of it.' },
      madeAt: { type: 'string', format: 'date-time', description: 'Time at which it was made.' },
      use: {
        type: 'string',
        enum: ['next', 'seals', 'opens'],
        description: '`seals` new cookies, and opens them as all do; `next` seals after the next rotation.',
      },
    },
  },
  EndpointDrain: {
    type: 'object',
    description: 'Outcome of a drain or of its end.',
    required: ['destinationId', 'endpoint', 'drained'],
    properties: {
      destinationId,
      endpoint,
      drained: { type: 'boolean', description: 'Whether it is drained now.' },
    },
  },
};
