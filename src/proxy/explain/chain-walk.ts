// Walk of a hypothetical request through the chain of an entry: the conditions that are true, the effect of each
// middleware, and the place where the request would end.
import { decideLink } from '../compile/chain.ts';
import type { ChainLink } from '../match/route-entry.ts';
import type { DryRunResult, FieldChange } from '../middleware/dry-run.ts';
import type { ExplainedRequest } from './explained-request.ts';

export interface ChainStep {
  readonly id: string;
  readonly name?: string;
  readonly type?: string;
  readonly runs: boolean;
  /** `notReached`: a middleware before it answers. */
  readonly because: 'always' | 'disabled' | 'skipWhen' | 'onlyWhen' | 'notReached';
  /** The expression that decided, if one did. */
  readonly expression?: string;
  /** Result of each condition. */
  readonly conditions?: readonly Condition[];
  /** Effect of a middleware that runs. */
  readonly effect?: ChainEffect;
}

interface Condition {
  readonly field: 'skipWhen' | 'onlyWhen';
  readonly expression: string;
  /** Null for one that cannot be decided: `skipWhen` does not skip then, and `onlyWhen` runs (expressions.md §6). */
  readonly value: boolean | null;
  /** Why it cannot be decided. */
  readonly failed?: 'error' | 'exhausted';
}

/** `unknown`: the effect does not depend on the request alone. */
type ChainEffect =
  | {
      readonly kind: 'passes';
      readonly changes?: readonly FieldChange[];
      readonly consumer?: { readonly id: string; readonly name: string };
    }
  | { readonly kind: 'answers'; readonly status: number }
  | { readonly kind: 'unknown' };

export interface ChainWalk {
  readonly steps: readonly ChainStep[];
  /** The middleware that answers, if one does for certain. */
  readonly answer: { readonly id: string; readonly status: number } | undefined;
}

/**
 * Walks the chain and applies the changes of the middlewares to the request, for later conditions and for the caller.
 */
export function walkChain(chain: readonly ChainLink[], request: ExplainedRequest): ChainWalk {
  let answer: ChainWalk['answer'];
  const steps = chain.map((link): ChainStep => {
    const { id, middleware } = link;
    const named = { id, ...(middleware && { name: middleware.name, type: middleware.type }) };
    if (answer !== undefined && !link.disabled) return { ...named, runs: false, because: 'notReached' };
    const conditions = conditionsOf(link, request);
    const { run, why, expression } = { expression: undefined, ...decideLink(link, request.view) };
    const effect = run ? effectOf(link.instantiate?.dryRun?.(request), request) : undefined;
    if (effect?.kind === 'answers') answer = { id, status: effect.status };
    return {
      ...named,
      runs: run,
      because: why,
      ...(expression !== undefined && { expression }),
      ...(conditions.length > 0 && { conditions }),
      ...(effect && { effect }),
    };
  });
  return { steps, answer };
}

function conditionsOf({ skipWhen, onlyWhen }: ChainLink, { view }: ExplainedRequest): Condition[] {
  const valued = (field: Condition['field'], list: ChainLink['skipWhen']): Condition[] =>
    list.map((program) => {
      const decision = program.decide(view);
      const said = typeof decision === 'boolean' ? { value: decision } : { value: null, failed: decision };
      return { field, expression: program.source, ...said };
    });
  return [...valued('skipWhen', skipWhen), ...valued('onlyWhen', onlyWhen)];
}

function effectOf(result: DryRunResult | undefined, request: ExplainedRequest): ChainEffect {
  if (result === undefined) return { kind: 'unknown' };
  const { answers, changes = [], consumer, query } = result;
  if (answers !== undefined) return { kind: 'answers', status: answers };
  for (const change of changes) request.change(change);
  if (query !== undefined) request.upstreamQuery = query;
  if (consumer !== undefined) request.consumer = consumer;
  return {
    kind: 'passes',
    ...(changes.length > 0 && { changes }),
    ...(consumer !== undefined && { consumer: { id: consumer.id, name: consumer.name } }),
  };
}
