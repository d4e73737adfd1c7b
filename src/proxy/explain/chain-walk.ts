// Walk of a hypothetical request through the chain of an entry: the conditions that are true, the effect of each
// middleware, and the place where the request would end.
import type { ChainEffect } from '../../model/answers/explained-outcome.ts';
import type { ChainCondition, ExplainMiddleware } from '../../model/answers/explanation.ts';
import { decideLink } from '../compile/chain.ts';
import type { ChainLink } from '../match/route-entry.ts';
import type { DryRunResult } from '../middleware/dry-run.ts';
import type { ExplainedRequest } from './explained-request.ts';

export interface ChainWalk {
  readonly steps: readonly ExplainMiddleware[];
  /** The middleware that answers, if one does for certain. */
  readonly answer: { readonly id: string; readonly status: number } | undefined;
}

/**
 * Walks the chain and applies the changes of the middlewares to the request, for later conditions and for the caller.
 */
export function walkChain(chain: readonly ChainLink[], request: ExplainedRequest): ChainWalk {
  let answer: ChainWalk['answer'];
  const steps = chain.map((link): ExplainMiddleware => {
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

function conditionsOf({ skipWhen, onlyWhen }: ChainLink, { view }: ExplainedRequest): ChainCondition[] {
  const valued = (field: ChainCondition['field'], list: ChainLink['skipWhen']): ChainCondition[] =>
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
