// Target of a request as middlewares have left it, for services that are asked about it.
import type { MiddlewareExchange } from './phase.ts';

/** Returns path and query, without what a middleware has taken from the query. */
export const targetOf = ({ request, upstreamQuery }: Pick<MiddlewareExchange, 'request' | 'upstreamQuery'>): string => {
  if (upstreamQuery === undefined) return request.target;
  return upstreamQuery === '' ? request.path : `${request.path}?${upstreamQuery}`;
};
