// The middleware types that exist: one line each. To add a type, write its file in this folder, its class in
// src/model/middleware/, and its line here.
import { isLeased, isStored } from '../../model/limit-rates.ts';
import type { Middleware, MiddlewareType } from '../../model/middleware.ts';
import type { MiddlewarePhases } from '../exchange/phase.ts';
import { buildAccessLog } from './access-log.ts';
import { buildApiKey } from './api-key.ts';
import { buildBasicAuth } from './basic-auth.ts';
import { buildCompress } from './compress.ts';
import { buildCors } from './cors.ts';
import type { DryRun } from './dry-run.ts';
import { buildExtAuthz } from './ext-authz.ts';
import { buildExtProc, openProcessor } from './ext-proc.ts';
import { grpcWeb } from './grpc-web.ts';
import { buildHeaders } from './headers.ts';
import { buildInlineAuthz } from './inline-authz.ts';
import { onePerMiddleware, sharedInWorker } from './instances.ts';
import { slowTurnsOf } from './jwt/signature.ts';
import { buildJwt, keySourceOf } from './jwt.ts';
import { buildLeasedRateLimit, buildRateLimit, buildStoredRateLimit } from './rate-limit.ts';
import type { BuildMiddleware, Instantiate } from './services.ts';

const middlewareTypes: Readonly<Record<MiddlewareType, BuildMiddleware>> = {
  cors: onePerMiddleware(({ cors }) => always(buildCors(cors))),
  headers: (middleware, override) =>
    override?.headers === undefined ? headersOf(middleware, undefined) : always(buildHeaders(override.headers)),
  rateLimit: onePerMiddleware((middleware) => {
    const config = blockOf(middleware, 'rateLimit');
    if (isLeased(config)) {
      const build = buildLeasedRateLimit(config);
      return (services) => build(services.leasedBucketsOf(middleware), services.commonMs);
    }
    if (isStored(config)) {
      const build = buildStoredRateLimit(config);
      return (services) =>
        build(services.storedLimitsOf(middleware), services.bucketsOf(middleware), services.commonMs);
    }
    const build = buildRateLimit(config);
    return (services) => build(services.bucketsOf(middleware), services.commonMs);
  }),
  jwt: onePerMiddleware((middleware) => {
    const config = blockOf(middleware, 'jwt');
    const build = buildJwt(config);
    const sourceFrom = keySourceOf(config);
    return (services) =>
      build(
        sourceFrom((withinMs) => services.keysOf(middleware, withinMs)),
        services.clock,
        slowTurnsOf(services),
      );
  }),
  inlineAuthz: onePerMiddleware((middleware) => always(buildInlineAuthz(blockOf(middleware, 'inlineAuthz')))),
  extAuthz: onePerMiddleware((middleware) => {
    const build = buildExtAuthz(blockOf(middleware, 'extAuthz'));
    return (services) => build(services.externalOf(middleware), services);
  }),
  extProc: (middleware, override) => {
    const build = buildExtProc(blockOf(middleware, 'extProc'), override?.extProc);
    return (services) => build(processorOf(middleware, services));
  },
  accessLog: onePerMiddleware((middleware) => {
    const config = blockOf(middleware, 'accessLog');
    return (services) => buildAccessLog(config, services.linesTo(config.path));
  }),
  basicAuth: onePerMiddleware((middleware) => buildBasicAuth(blockOf(middleware, 'basicAuth'))),
  grpcWeb: onePerMiddleware(() => always(grpcWeb)),
  apiKey: onePerMiddleware((middleware) => always(buildApiKey(blockOf(middleware, 'apiKey')))),
  compress: onePerMiddleware((middleware) => {
    const { dryRun, run } = buildCompress(blockOf(middleware, 'compress'));
    return Object.assign(run, { dryRun });
  }),
};

const processorOf = sharedInWorker((middleware, services) =>
  openProcessor(blockOf(middleware, 'extProc'), services.externalOf(middleware), services),
);

/** Wraps a middleware that needs neither its worker nor other services. */
function always(phases: MiddlewarePhases & { readonly dryRun: DryRun }): Instantiate {
  return Object.assign(() => phases, { dryRun: phases.dryRun });
}

const headersOf = onePerMiddleware(({ headers }) => always(buildHeaders(headers)));

/** The others need none. */
type Block = Exclude<MiddlewareType, 'cors' | 'headers' | 'grpcWeb'>;

/** Without its block a protection would be one that is not there. */
function blockOf<Type extends Block>(middleware: Middleware, type: Type): NonNullable<Middleware[Type]> {
  const block = middleware[type];
  if (block === undefined || block === null) throw new Error(`${type} is required when type is ${type}`);
  return block;
}

export const buildOf = (type: string): BuildMiddleware | undefined =>
  Object.hasOwn(middlewareTypes, type) ? middlewareTypes[type as MiddlewareType] : undefined;
