// Middleware type extAuthz: a service decides whether a request may pass (contract.md §8.5).
import { has, whenever } from '../constraint.ts';
import { extAuthzDefaults } from '../defaults.ts';
import { Duration, Flag, Line, ListOf, Nested, OneOf, PathAndQuery, Reference, Token } from '../field.ts';
import { problemIf, Rules } from '../rule.ts';
import { namePattern, token } from '../scalar.ts';

export const extAuthzModes = ['http', 'grpc'] as const;
export const extAuthzProtocols = ['sluice', 'envoy'] as const;

export class InjectedHeader {
  @Token('Header name.', { required: true, example: 'x-original-path' })
  readonly key!: string;

  @Line('Header value; `${request.path}` and the like are filled in.', { required: true, example: '${request.path}' })
  readonly value!: string;
}

export class ExtAuthzOnCheck {
  @ListOf(token, 'Client headers that the service sees. Absent: none, with protocol envoy all.', { default: [] })
  readonly forwardHeaders?: readonly string[];

  @ListOf(InjectedHeader, 'Headers that the service sees in addition.', { default: [] })
  readonly injectHeaders?: readonly InjectedHeader[];
}

export class ExtAuthzOnAllow {
  @ListOf(namePattern, 'Headers of the decision that go to the upstream; `x-*` is a prefix.', { default: [] })
  readonly copyToUpstream?: readonly string[];

  @ListOf(namePattern, 'Headers of the decision that go to the client; `x-*` is a prefix.', { default: [] })
  readonly copyToClient?: readonly string[];
}

export class ExtAuthzOnDeny {
  @ListOf(namePattern, 'Headers of the decision that go to the client beside the usual four.', { default: [] })
  readonly copyToClient?: readonly string[];
}

@Rules<ExtAuthzConfig>(
  {
    envoySpeaksGrpc: ({ protocol, mode = extAuthzDefaults.mode }) =>
      problemIf(protocol === 'envoy' && mode === 'http', '/mode', 'must be grpc when protocol is envoy'),
  },
  whenever(has('protocol', 'envoy'), has('mode', 'grpc')),
)
export class ExtAuthzConfig {
  @Reference('Id of the destination of the service.', { required: true, example: 'authorizer' })
  readonly destinationId!: string;

  @OneOf(extAuthzModes, 'How the service is asked.', { default: extAuthzDefaults.mode })
  readonly mode?: (typeof extAuthzModes)[number];

  @OneOf(
    extAuthzProtocols,
    'What is spoken: messages of our own, or `envoy.service.auth.v3.Authorization/Check`, which needs mode grpc.',
    { default: extAuthzDefaults.protocol },
  )
  readonly protocol?: (typeof extAuthzProtocols)[number];

  @PathAndQuery('Path of the check in mode http, with its query. Absent: `/`.')
  readonly path?: string;

  @Duration('Time for the whole decision. 0: no limit.', { default: extAuthzDefaults.decisionTimeout })
  readonly decisionTimeout?: string;

  @Flag('Let requests pass when the service cannot be asked.', { default: extAuthzDefaults.failureModeAllow })
  readonly failureModeAllow?: boolean;

  @Flag('Send the request body along.', { default: extAuthzDefaults.includeBody })
  readonly includeBody?: boolean;

  @Nested(ExtAuthzOnCheck, 'What the service sees.')
  readonly onCheck?: ExtAuthzOnCheck;

  @Nested(ExtAuthzOnAllow, 'What an allowed request takes along.')
  readonly onAllow?: ExtAuthzOnAllow;

  @Nested(ExtAuthzOnDeny, 'What a denied client sees.')
  readonly onDeny?: ExtAuthzOnDeny;
}
