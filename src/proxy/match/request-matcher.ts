// Interface of matchers beside host and path (contract.md §6.3).
import type { Refusing } from '../exchange/entry.ts';
import type { RoutedRequest } from '../message/routed-request.ts';

export interface Matcher {
  readonly kind: 'methods' | 'grpc' | 'scheme' | 'port' | 'header' | 'query' | 'cel';
  /** True for an expression that reads the body. */
  readonly needsBody: boolean;
  test(request: RoutedRequest): boolean;
  /** Required value, for display: `x-tenant = "a"`. */
  readonly wanted: string;
  /** Returns the value that the request has instead; undefined when it has none. */
  found(request: RoutedRequest): string | undefined;
  /** Returns whether a request that the entry wins is refused: it repeats what may come once. */
  refuses?(request: RoutedRequest): boolean;
}

/** Returns those that may refuse a request; undefined where there is none. */
export function refusingAmong(matchers: readonly Matcher[]): readonly Refusing[] | undefined {
  if (!matchers.some(mayRefuse)) return undefined;
  return matchers.filter(mayRefuse);
}

const mayRefuse = (matcher: Matcher): matcher is Matcher & Refusing => matcher.refuses !== undefined;
