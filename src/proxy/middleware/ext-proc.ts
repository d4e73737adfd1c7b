// Middleware type extProc: a service reads and changes requests and responses (contract.md §8.6, architecture.md §6.28,
// §6.29). Without its answer nothing goes on, unless the middleware says otherwise.
import { extProcDefaults } from '../../model/defaults.ts';
import type { ExtProcConfig } from '../../model/middleware/ext-proc-options.ts';
import type { ExtProcOverride } from '../../model/middleware-override.ts';
import type { MiddlewareExchange, MiddlewarePhases } from '../exchange/phase.ts';
import type { ExternalDirectory } from '../external/external-services.ts';
import { ignoredFields } from '../external/ignored-fields.ts';
import { durationMs } from '../parsed-duration.ts';
import type { Conversation, OpenConversation, ProcessorTools } from './ext-proc/answer.ts';
import { envoyDialect } from './ext-proc/envoy-dialect.ts';
import { openGrpc } from './ext-proc/grpc-conversation.ts';
import { openHttp } from './ext-proc/http-conversation.ts';
import { Observation } from './ext-proc/observation.ts';
import { Observer } from './ext-proc/observer.ts';
import { Processing, type ProcessingPlan } from './ext-proc/processing.ts';
import { sluiceDialect } from './ext-proc/sluice-dialect.ts';
import { type HeldBodies, heldBodiesOf } from './held-bodies.ts';
import { compileNamePatterns } from './name-pattern.ts';
import type { MiddlewareServices } from './services.ts';

/** Parts that all entries with the middleware share in a worker; overrides do not change them (contract.md §8.0). */
export interface Processor {
  /** For one exchange. */
  readonly open: (exchange: MiddlewareExchange, slot: number) => Conversation;
  /** In observe mode. */
  readonly observer: Observer | undefined;
  readonly bodies: HeldBodies;
}

type Tools = Pick<MiddlewareServices, 'clock' | 'wheel' | 'logger' | 'share'>;

export function openProcessor(config: ExtProcConfig, services: ExternalDirectory, tools: Tools): Processor {
  const { destinationId, observeMode, mode = extProcDefaults.mode, protocol = extProcDefaults.protocol } = config;
  const { clock, wheel, logger, share } = tools;
  const open = conversationOf(mode, protocol);
  const ignored = ignoredFields(logger, destinationId);
  const bodies = heldBodiesOf(tools);
  const known = { services, clock, wheel, destinationId, timeoutMsMax: durationMs(config.maxPhaseTimeout, 0), ignored };
  if (observeMode?.enabled !== true) {
    const traced = ({ trace }: MiddlewareExchange, slot: number): ProcessorTools['traced'] => {
      return (operation, kind) => trace?.ask(slot, { destinationId, operation, kind });
    };
    return {
      open: (exchange, slot) => open({ ...known, traced: traced(exchange, slot) }),
      observer: undefined,
      bodies,
    };
  }
  // What is only shown belongs to no exchange, which may be long over.
  const start = (): Conversation => open({ ...known, traced: () => undefined });
  const { workers, queueSize } = { ...extProcDefaults.observeMode, ...observeMode };
  const limits = { workers: Math.max(1, share(workers)), queueMax: share(queueSize), timeoutMs: timeoutMsOf(config) };
  const observer = new Observer({ open: start, ...limits, logger, nowMs: () => clock.monotonicMs() });
  return { open: start, observer, bodies };
}

export function buildExtProc(
  config: ExtProcConfig,
  override: ExtProcOverride | undefined,
): (processor: Processor) => MiddlewarePhases {
  const { mode, protocol = extProcDefaults.protocol } = config;
  if (protocol === 'envoy' && mode === 'http') throw new Error('protocol envoy needs mode grpc');
  const plan = planOf(config, override, protocol);
  return ({ open, observer, bodies }) =>
    observer === undefined ? processingPhases(plan, open, bodies) : observingPhases(new Observation(plan, observer));
}

const timeoutMsOf = ({ phaseTimeout }: ExtProcConfig): number => durationMs(phaseTimeout, extProcDefaults.phaseTimeout);

const conversationOf = (mode: 'grpc' | 'http', protocol: 'sluice' | 'envoy'): OpenConversation => {
  if (mode === 'http') return openHttp;
  return openGrpc(protocol === 'envoy' ? envoyDialect : sluiceDialect);
};

function planOf(
  config: ExtProcConfig,
  override: ExtProcOverride | undefined,
  protocol: 'sluice' | 'envoy',
): ProcessingPlan {
  const phases = { ...extProcDefaults.phases, ...present(override?.phases ?? config.phases ?? {}) };
  return {
    phases,
    maxBodyBytes: phases.maxBodyBytes,
    chunkwise: protocol === 'envoy',
    timeoutMs: timeoutMsOf(config),
    allowOnError: override?.allowOnError ?? config.allowOnError ?? extProcDefaults.allowOnError,
    statusOnError: config.statusOnError ?? extProcDefaults.statusOnError,
    mayChange: allowing(config.allowedMutations),
    maySee: allowing(config.forwardRules),
    disableReject: config.disableReject ?? extProcDefaults.disableReject,
    allowModeOverride: config.allowModeOverride ?? extProcDefaults.allowModeOverride,
  };
}

/** Deny wins; an empty list allows all. */
function allowing(
  rules: { readonly allowHeaders?: readonly string[]; readonly denyHeaders?: readonly string[] } = {},
): (lowerName: string) => boolean {
  const { allowHeaders = [], denyHeaders = [] } = rules;
  const allowed = compileNamePatterns(allowHeaders);
  const denied = compileNamePatterns(denyHeaders);
  return (name) => !denied(name) && (allowHeaders.length === 0 || allowed(name));
}

const present = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;

function processingPhases(
  plan: ProcessingPlan,
  open: (exchange: MiddlewareExchange, slot: number) => Conversation,
  bodies: HeldBodies,
): MiddlewarePhases {
  return {
    onRequest(exchange, slot) {
      const processing = new Processing(plan, open(exchange, slot), exchange, bodies);
      exchange.state[slot] = processing;
      return processing.request();
    },
    onResponse({ state }, slot) {
      const processing = state[slot];
      return processing instanceof Processing ? processing.response() : undefined;
    },
    onFinish({ state }, slot) {
      const processing = state[slot];
      if (processing instanceof Processing) processing.end();
    },
  };
}

function observingPhases(observation: Observation): MiddlewarePhases {
  return {
    onRequest(exchange) {
      observation.request(exchange);
      return undefined;
    },
    onResponse(exchange) {
      observation.response(exchange);
      return undefined;
    },
  };
}
