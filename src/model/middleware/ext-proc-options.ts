// Middleware type extProc: a service reads and changes requests and responses (contract.md §8.6).
import { has, hasOrLacks, whenever } from '../constraint.ts';
import { extProcDefaults } from '../defaults.ts';
import { Duration, Flag, ListOf, Nested, OneOf, Reference, Text, Uint } from '../field.ts';
import { problemIf, Rules } from '../rule.ts';
import { namePattern } from '../scalar.ts';

export const extProcModes = ['grpc', 'http'] as const;
export const extProcProtocols = ['sluice', 'envoy'] as const;
const headerPhases = ['send', 'skip'] as const;
const bodyPhases = ['none', 'buffered', 'bufferedPartial', 'streamed'] as const;

type HeaderPhase = (typeof headerPhases)[number];
type BodyPhase = (typeof bodyPhases)[number];

const { phases, observeMode } = extProcDefaults;

export class ExtProcPhases {
  @OneOf(headerPhases, 'Whether the service sees request headers.', { default: phases.requestHeaders })
  readonly requestHeaders?: HeaderPhase;

  @OneOf(headerPhases, 'Whether the service sees response headers.', { default: phases.responseHeaders })
  readonly responseHeaders?: HeaderPhase;

  @OneOf(bodyPhases, 'How the service sees request bodies.', { default: phases.requestBody })
  readonly requestBody?: BodyPhase;

  @OneOf(bodyPhases, 'How the service sees response bodies.', { default: phases.responseBody })
  readonly responseBody?: BodyPhase;

  @Uint('Bytes of a body that bufferedPartial shows.', { default: phases.maxBodyBytes })
  readonly maxBodyBytes?: number;
}

export class AllowedMutations {
  @ListOf(namePattern, 'Headers that the service may change; `x-*` is a prefix. Empty: all.')
  readonly allowHeaders?: readonly string[];

  @ListOf(namePattern, 'Headers that it may not change even so.')
  readonly denyHeaders?: readonly string[];
}

export class ForwardRules {
  @ListOf(namePattern, 'Headers that the service sees; `x-*` is a prefix. Empty: all.')
  readonly allowHeaders?: readonly string[];

  @ListOf(namePattern, 'Headers that it does not see even so.')
  readonly denyHeaders?: readonly string[];
}

export class ObserveMode {
  @Flag('Only show the exchange; answers are ignored and nothing waits for them.', { default: observeMode.enabled })
  readonly enabled?: boolean;

  @Uint('Messages on their way at a time.', { default: observeMode.workers })
  readonly workers?: number;

  @Uint('Messages that may wait; beyond it the newest is dropped.', { default: observeMode.queueSize })
  readonly queueSize?: number;
}

@Rules<ExtProcConfig>(
  {
    envoySpeaksGrpc: ({ protocol, mode }) =>
      problemIf(protocol === 'envoy' && mode === 'http', '/mode', 'must be grpc when protocol is envoy'),
  },
  whenever(has('protocol', 'envoy'), hasOrLacks('mode', 'grpc')),
)
export class ExtProcConfig {
  @Reference('Id of the destination of the service.', { required: true, example: 'processor' })
  readonly destinationId!: string;

  @OneOf(extProcModes, 'How the service is asked.', { default: extProcDefaults.mode })
  readonly mode?: (typeof extProcModes)[number];

  @OneOf(
    extProcProtocols,
    'What is spoken: messages of our own, or `envoy.service.ext_proc.v3.ExternalProcessor`, which needs mode grpc.',
    { default: extProcDefaults.protocol },
  )
  readonly protocol?: (typeof extProcProtocols)[number];

  @Duration('Time for each message. 0: no limit.', { default: extProcDefaults.phaseTimeout })
  readonly phaseTimeout?: string;

  @Nested(ExtProcPhases, 'What the service sees.')
  readonly phases?: ExtProcPhases;

  @Flag('Obey `mode_override` of an envoy service, which changes the phases of the exchange it answers.', {
    default: extProcDefaults.allowModeOverride,
  })
  readonly allowModeOverride?: boolean;

  @Duration('Longest `override_message_timeout` that an envoy service may ask for. Absent or 0: it is ignored.')
  readonly maxPhaseTimeout?: string;

  @Flag('Go on when the service fails.', { default: extProcDefaults.allowOnError })
  readonly allowOnError?: boolean;

  @Uint('Status when the service fails.', { min: 400, max: 599, default: extProcDefaults.statusOnError })
  readonly statusOnError?: number;

  @Nested(AllowedMutations, 'Headers that the service may change.')
  readonly allowedMutations?: AllowedMutations;

  @Nested(ForwardRules, 'Headers that the service sees.')
  readonly forwardRules?: ForwardRules;

  @Flag('Ignore answers that reject.', { default: extProcDefaults.disableReject })
  readonly disableReject?: boolean;

  @Nested(ObserveMode, 'Show and do not wait.')
  readonly observeMode?: ObserveMode;

  @Text('Accepted for compatibility; it has no effect.')
  readonly metricsPrefix?: string;
}
