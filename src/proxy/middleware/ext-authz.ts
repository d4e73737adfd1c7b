// Middleware type extAuthz: a service decides whether a request may pass (contract.md §8.5, architecture.md §6.28, §6.29).
// Whatever keeps it from deciding refuses the request, unless the middleware says otherwise.
import type { Clock } from '../../clock.ts';
import { extAuthzDefaults } from '../../model/defaults.ts';
import type { ExtAuthzConfig } from '../../model/middleware/ext-authz.ts';
import { durationMs } from '../duration.ts';
import type { MiddlewareExchange, MiddlewarePhases, Verdict } from '../exchange/phase.ts';
import { reasonOf } from '../external/external-failure.ts';
import type { ExternalDirectory } from '../external/external-services.ts';
import { applyChange, type ChangeableFields, type HeaderChange } from '../external/header-change.ts';
import { claimedNames } from './claimed-names.ts';
import { compileCheck } from './ext-authz/check.ts';
import type { AskDecision, Decision } from './ext-authz/decision.ts';
import { askOverEnvoy } from './ext-authz/envoy-check.ts';
import { askOverGrpc } from './ext-authz/grpc-check.ts';
import { askOverHttp } from './ext-authz/http-check.ts';
import { rejection } from './rejection.ts';

/** A body that is shown to a service is held whole; a larger one is refused. */
const bodyBytesMax = 64 * 1024 * 1024;

const asks: Readonly<Record<'http' | 'grpc' | 'envoy', AskDecision>> = {
  http: askOverHttp,
  grpc: askOverGrpc,
  envoy: askOverEnvoy,
};

/** What one exchange keeps. */
interface Asked {
  readonly abort: AbortController;
  toClient: readonly HeaderChange[];
}

export function buildExtAuthz(config: ExtAuthzConfig): (external: ExternalDirectory, clock: Clock) => MiddlewarePhases {
  const { mode = extAuthzDefaults.mode, protocol = extAuthzDefaults.protocol } = config;
  if (protocol === 'envoy' && mode === 'http') throw new Error('protocol envoy needs mode grpc');
  const ask = asks[protocol === 'envoy' ? 'envoy' : mode];
  const check = compileCheck(config, protocol);
  const timeoutMs = durationMs(config.decisionTimeout, extAuthzDefaults.decisionTimeout);
  const claimed = claimedNames(config.onAllow?.copyToUpstream ?? []);
  return (external, clock) => {
    const decide = async (
      exchange: MiddlewareExchange,
      slot: number,
      services: ExternalDirectory,
    ): Promise<Verdict> => {
      const asked: Asked = { abort: new AbortController(), toClient: [] };
      exchange.state[slot] = asked;
      // Whoever has waited looks whether the exchange is still the same one: it is used again for other requests.
      const isOver = (): boolean => exchange.state[slot] !== asked;
      const body = check.includeBody ? await exchange.collectRequestBody(bodyBytesMax) : undefined;
      if (isOver()) return undefined;
      if (body?.whole === false) return rejection(413, 'request body too large');
      const cancel = timeoutMs > 0 ? clock.after(timeoutMs, () => asked.abort.abort()) : () => {};
      let decision: Decision;
      try {
        const { signal } = asked.abort;
        decision = await ask({ check, exchange, slot, body: body?.bytes, services, signal, timeoutMs });
      } catch (error) {
        if (isOver()) return undefined;
        claimed.clear(exchange);
        if (config.failureModeAllow === true) return undefined;
        const reason = asked.abort.signal.aborted ? 'timeout' : reasonOf(error);
        return rejection(403, `ext_authz: ${reason}`);
      } finally {
        cancel();
      }
      if (isOver()) return undefined;
      if (!decision.allowed) return decision.reply;
      claimed.clear(exchange);
      pass(exchange, decision);
      asked.toClient = decision.toClient;
      return undefined;
    };
    return { ...phases((exchange, slot) => decide(exchange, slot, external)), onSkip: claimed.disown };
  };
}

function phases(decide: (exchange: MiddlewareExchange, slot: number) => Promise<Verdict>): MiddlewarePhases {
  return {
    onRequest: decide,
    onResponse(exchange, slot) {
      const { response } = exchange;
      const fields: ChangeableFields = {
        first: (name) => response.header(name),
        set: (name, value) => response.edits.set(name, value),
        append: (name, value) => response.edits.append(name, value),
      };
      for (const change of askedIn(exchange, slot)?.toClient ?? []) applyChange(change, fields);
      return undefined;
    },
    onFinish(exchange, slot) {
      askedIn(exchange, slot)?.abort.abort();
    },
  };
}

const askedIn = ({ state }: MiddlewareExchange, slot: number): Asked | undefined => state[slot] as Asked | undefined;

function pass(
  exchange: MiddlewareExchange,
  { toUpstream, removed, query }: Extract<Decision, { allowed: true }>,
): void {
  const { request } = exchange;
  for (const name of removed) exchange.removeRequestField(name);
  const fields: ChangeableFields = {
    first: (name) => request.header(name),
    set: (name, value) => exchange.setRequestField(name, value),
    append: (name, value) => exchange.appendRequestField(name, value),
  };
  for (const change of toUpstream) applyChange(change, fields);
  if (query !== undefined) exchange.setUpstreamQuery(query);
}
