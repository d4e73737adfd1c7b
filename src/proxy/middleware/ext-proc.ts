// Middleware type extProc: a service reads and changes requests and responses (contract.md §8.6, architecture.md §6.28,
// §6.29). Without its answer nothing goes on, unless the middleware says otherwise.
import { extProcDefaults } from '../../model/defaults.ts';
import type { ExtProcConfig } from '../../model/middleware/ext-proc.ts';
import type { ExtProcOverride } from '../../model/middleware-override.ts';
import { durationMs } from '../duration.ts';
import type { MiddlewareExchange, MiddlewarePhases } from '../exchange/phase.ts';
import type { ExternalDirectory } from '../external/external-services.ts';
import { ignoredFields } from '../external/ignored-fields.ts';
import type { Conversation, OpenConversation } from './ext-proc/answer.ts';
import { envoyDialect } from './ext-proc/envoy-dialect.ts';
import { openGrpc } from './ext-proc/grpc-conversation.ts';
import { openHttp } from './ext-proc/http-conversation.ts';
import { Observation } from './ext-proc/observation.ts';
import { Observer } from './ext-proc/observer.ts';
import { Processing, type ProcessingPlan } from './ext-proc/processing.ts';
import { sluiceDialect } from './ext-proc/sluice-dialect.ts';
import { compileNamePatterns } from './name-pattern.ts';
import type { MiddlewareServices } from './services.ts';

type BuildProcessor = (
  external: ExternalDirectory,
  tools: Pick<MiddlewareServices, 'clock' | 'wheel' | 'logger'>,
) => MiddlewarePhases;

export function buildExtProc(config: ExtProcConfig, override: ExtProcOverride | undefined): BuildProcessor {
  const { mode = extProcDefaults.mode, protocol = extProcDefaults.protocol } = config;
  if (protocol === 'envoy' && mode === 'http') throw new Error('protocol envoy needs mode grpc');
  const open = conversationOf(mode, protocol);
  const plan = planOf(config, override, protocol);
  const timeoutMsMax = durationMs(config.maxPhaseTimeout, 0);
  const { destinationId, observeMode } = config;
  return (external, { clock, wheel, logger }) => {
    const ignored = ignoredFields(logger, destinationId);
    const tools = { services: external, clock, wheel, destinationId, timeoutMsMax, ignored };
    if (observeMode?.enabled !== true) {
      return processingPhases(plan, ({ trace }, slot) =>
        open({ ...tools, traced: (operation, kind) => trace?.ask(slot, { destinationId, operation, kind }) }),
      );
    }
    // What is only shown belongs to no exchange, which may be long over.
    const start = (): Conversation => open({ ...tools, traced: () => undefined });
    const { workers, queueSize } = { ...extProcDefaults.observeMode, ...observeMode };
    const nowMs = (): number => clock.monotonicMs();
    const limits = { workers: Math.max(1, workers), queueMax: queueSize, timeoutMs: plan.timeoutMs };
    const observer = new Observer({ open: start, ...limits, logger, nowMs });
    return observingPhases(new Observation(plan, observer));
  };
}

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
    timeoutMs: durationMs(config.phaseTimeout, extProcDefaults.phaseTimeout),
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
): MiddlewarePhases {
  return {
    onRequest(exchange, slot) {
      const processing = new Processing(plan, open(exchange, slot), exchange);
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
