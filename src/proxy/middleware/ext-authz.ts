// Middleware type extAuthz: a service decides whether a request may pass (contract.md §8.5, architecture.md §6.28,
// §6.29). A failure to get a decision refuses the request, unless the middleware says otherwise.
import { extAuthzDefaults } from '../../model/defaults.ts';
import type { ExtAuthzConfig } from '../../model/middleware/ext-authz-options.ts';
import type { MiddlewareExchange, MiddlewarePhases, MiddlewareResult } from '../exchange/phase.ts';
import { notAwaited, reasonOf } from '../external/external-failure.ts';
import type { ExternalDirectory } from '../external/external-services.ts';
import { applyChange, type ChangeableFields } from '../external/header-change.ts';
import { ignoredFields } from '../external/ignored-fields.ts';
import { durationMs } from '../parsed-duration.ts';
import { AuthzCall } from './ext-authz/authz-call.ts';
import { compileCheck } from './ext-authz/check.ts';
import type { AskDecision, Decision } from './ext-authz/decision.ts';
import { askOverEnvoy } from './ext-authz/envoy-check.ts';
import { askOverGrpc } from './ext-authz/grpc-check.ts';
import { askOverHttp } from './ext-authz/http-check.ts';
import { heldBodiesOf, heldBodyBytesMax, noRoom } from './held-bodies.ts';
import { protectedHeaders, stripLookalikes } from './protected-headers.ts';
import { rejection } from './rejection.ts';
import type { MiddlewareServices } from './services.ts';

const asks: Readonly<Record<'http' | 'grpc' | 'envoy', AskDecision>> = {
  http: askOverHttp,
  grpc: askOverGrpc,
  envoy: askOverEnvoy,
};

type BuildAuthorizer = (
  external: ExternalDirectory,
  tools: Pick<MiddlewareServices, 'wheel' | 'logger' | 'share'>,
) => MiddlewarePhases;

export function buildExtAuthz(config: ExtAuthzConfig): BuildAuthorizer {
  const { mode = extAuthzDefaults.mode, protocol = extAuthzDefaults.protocol } = config;
  if (protocol === 'envoy' && mode === 'http') throw new Error('protocol envoy needs mode grpc');
  const ask = asks[protocol === 'envoy' ? 'envoy' : mode];
  const check = compileCheck(config, protocol);
  const timeoutMs = durationMs(config.decisionTimeout, extAuthzDefaults.decisionTimeout);
  const claimed = protectedHeaders(config.onAllow?.copyToUpstream ?? []);
  return (services, tools) => {
    const { wheel, logger } = tools;
    const bodies = heldBodiesOf(tools);
    const ignored = ignoredFields(logger, config.destinationId);
    const decide = async (exchange: MiddlewareExchange, slot: number): Promise<MiddlewareResult> => {
      const call = new AuthzCall(wheel);
      exchange.state[slot] = call;
      // After each wait the exchange may be another one: it is used again for other requests.
      const isOver = (): boolean => exchange.state[slot] !== call;
      if (check.includeBody) call.body = bodies.count();
      const body = check.includeBody ? await exchange.collectRequestBody(heldBodyBytesMax, call.body) : undefined;
      if (isOver()) return undefined;
      if (body?.lacksRoom === true) return noRoom;
      if (body?.whole === false) return rejection(413, 'request body too large');
      call.arm(timeoutMs);
      let decision: Decision;
      try {
        decision = await ask({ check, exchange, slot, body: body?.bytes, services, call, ignored, timeoutMs });
      } catch (error) {
        if (isOver()) return undefined;
        claimed.strip(exchange);
        return config.failureModeAllow === true ? undefined : rejection(403, `ext_authz: ${reasonOf(error)}`);
      } finally {
        call.settle();
      }
      if (isOver()) return undefined;
      if (!decision.allowed) return decision.reply;
      claimed.strip(exchange);
      pass(exchange, decision);
      call.toClient = decision.toClient;
      return undefined;
    };
    return { ...phases(decide), onSkip: claimed.stripClientHeaders };
  };
}

function phases(decide: (exchange: MiddlewareExchange, slot: number) => Promise<MiddlewareResult>): MiddlewarePhases {
  return {
    onRequest: decide,
    onResponse(exchange, slot) {
      const { response } = exchange;
      const fields: ChangeableFields = {
        first: (name) => response.header(name),
        set: (name, value) => response.edits.set(name, value),
        append: (name, value) => response.edits.append(name, value),
      };
      for (const change of callIn(exchange, slot)?.toClient ?? []) applyChange(change, fields);
      return undefined;
    },
    onFinish(exchange, slot) {
      const call = callIn(exchange, slot);
      call?.giveUp(notAwaited);
      call?.body?.release();
    },
  };
}

const callIn = ({ state }: MiddlewareExchange, slot: number): AuthzCall | undefined =>
  state[slot] as AuthzCall | undefined;

function pass(
  exchange: MiddlewareExchange,
  { toUpstream, removed, query }: Extract<Decision, { allowed: true }>,
): void {
  const { request } = exchange;
  stripLookalikes(exchange, [...removed, ...toUpstream.map(({ name }) => name)]);
  for (const name of removed) exchange.removeRequestField(name);
  const fields: ChangeableFields = {
    first: (name) => request.header(name),
    set: (name, value) => exchange.setRequestField(name, value),
    append: (name, value) => exchange.appendRequestField(name, value),
  };
  for (const change of toUpstream) applyChange(change, fields);
  if (query !== undefined) exchange.setUpstreamQuery(query);
}
