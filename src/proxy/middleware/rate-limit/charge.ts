// Charge of a request: the buckets that it takes from, and the number of tokens (contract.md §8.2).
import { type CelProgram, compileCel } from '../../../expression/cel/compiled-program.ts';
import type { RequestView } from '../../../expression/cel/value-view.ts';
import type { RateLimitConfig } from '../../../model/middleware/rate-limit-options.ts';
import type { MiddlewareExchange } from '../../exchange/phase.ts';
import { addressKey, type BucketKey, sharedKey } from '../../shared/bucket-key.ts';
import type { TokenBuckets } from '../../shared/token-buckets.ts';

export interface Charge {
  /** One of the expressions reads the body. */
  readonly needsBody: boolean;
  /** Returns the key of the buckets; valid until the next call. A key that fails or is no text is one shared by all such. */
  keyOf(exchange: MiddlewareExchange, limits: readonly TokenBuckets[]): BucketKey;
  /** Returns the tokens to take, 0 or more. A cost that fails or is no number is 1, a negative one 0. */
  costOf(exchange: MiddlewareExchange): number;
}

/** Throws where an expression does not compile. */
export function compileCharge(
  { key, cost }: Pick<RateLimitConfig, 'key' | 'cost'>,
  clientOf: (exchange: MiddlewareExchange) => string,
): Charge {
  const keyProgram = key === undefined ? undefined : compileCel(key, 'request', 'string');
  const costProgram = cost === undefined ? undefined : compileCel(cost, 'request', 'number');
  return {
    needsBody: keyProgram?.needsBody === true || costProgram?.needsBody === true,
    keyOf: keyProgram === undefined ? (exchange) => addressKey(clientOf(exchange)) : textKeyOf(keyProgram),
    costOf: costProgram === undefined ? () => 1 : ({ request }) => costFrom(costProgram.value(request.view)),
  };
}

const textKeyOf =
  (program: CelProgram<RequestView>): Charge['keyOf'] =>
  ({ request }, [first]) => {
    const text = program.value(request.view);
    return typeof text === 'string' && first !== undefined ? first.keyOf(text) : sharedKey;
  };

/** Unsigned integers are objects of the expression library, with the number as their text. */
function costFrom(value: unknown): number {
  const isUnsigned = typeof value === 'object' && value !== null && typeof value.valueOf() === 'bigint';
  if (typeof value !== 'bigint' && typeof value !== 'number' && !isUnsigned) return 1;
  const cost = Number(value);
  return Number.isNaN(cost) ? 1 : Math.max(0, cost);
}
