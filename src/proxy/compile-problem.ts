// Something in a resource that cannot be compiled, and what becomes of the entries that need it (architecture.md §6.19).
import type { ProxyErrorType } from '../errors.ts';

export interface CompileProblem {
  readonly of: 'group' | 'route' | 'middleware';
  /** Fields from the resource down: `['match', 'pathRegex']`; of a middleware its id comes first. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  /**
   * The entry still wins its requests and answers this error. Undefined: the requests of the entry are unknown, so the
   * whole configuration is refused.
   */
  readonly closes?: ProxyErrorType;
}
