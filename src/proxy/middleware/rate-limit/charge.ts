// Charge of a request: the buckets that it takes from, and the number of tokens (contract.md §8.2).
import { hash } from 'node:crypto';
import { type CelProgram, compileCel } from '../../../expression/cel/compiled-program.ts';
import type { RequestView } from '../../../expression/cel/value-view.ts';
import type { RateLimitConfig } from '../../../model/middleware/rate-limit-options.ts';
import type { MiddlewareExchange } from '../../exchange/phase.ts';
import { addressKey, type BucketKey, sharedKey } from '../../shared/bucket-key.ts';
import type { Buckets } from '../../shared/buckets.ts';

export interface Charge {
  /** One of the expressions reads the body. */
  readonly needsBody: boolean;
  /** Returns the key of the buckets; valid until the next call. A key that fails or is no text is one shared by all such. */
  keyOf(exchange: MiddlewareExchange, limits: readonly Buckets[]): BucketKey;
  /** Returns the name of that key in the whole cluster. */
  nameOf(exchange: MiddlewareExchange): string;
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
    nameOf:
      keyProgram === undefined
        ? (exchange) => addressName(addressKey(clientOf(exchange)))
        : ({ request }) => textName(keyProgram.value(request.view)),
    costOf: costProgram === undefined ? () => 1 : ({ request }) => costFrom(costProgram.value(request.view)),
  };
}

const textKeyOf =
  (program: CelProgram<RequestView>): Charge['keyOf'] =>
  ({ request }, [first]) => {
    const text = program.value(request.view);
    return typeof text === 'string' && first !== undefined ? first.keyOf(text) : sharedKey;
  };

const addressName = ({ high, low }: BucketKey): string => `a${(high >>> 0).toString(16)}.${(low >>> 0).toString(16)}`;

/** A digest, for names go to the leader with each report. */
const textName = (text: unknown): string =>
  typeof text === 'string' ? `t${hash('sha256', text, 'base64url').slice(0, 22)}` : 'shared';

/** Unsigned integers are objects of the expression library, with the number as their text. */
function costFrom(value: unknown): number {
  const isUnsigned = typeof value === 'object' && value !== null && typeof value.valueOf() === 'bigint';
  if (typeof value !== 'bigint' && typeof value !== 'number' && !isUnsigned) return 1;
  const cost = Number(value);
  return Number.isNaN(cost) ? 1 : Math.max(0, cost);
}
