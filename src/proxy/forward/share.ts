// Share: one entry of `forward.destinations`, compiled (contract.md §2.4.2). A destination with its edits, or a fixed
// answer.
import { routeDefaults } from '../../model/defaults.ts';
import type { Forward, WeightedDestination } from '../../model/forward.ts';
import { compileDirectResponse, DirectResponseAction } from '../action/fixed-response.ts';
import { compileRewrite, type RewritePlan, rewrittenOver } from '../action/target-rewrite.ts';
import type { CompileProblem } from '../compile-problem.ts';
import { buildHeaders, type Headers } from '../middleware/headers.ts';

export interface Share {
  /**
   * Identity in hashes and placements: the id of the destination, `<id>#<n>` for its n-th entry from the second on,
   * `#<n>` for the n-th fixed answer.
   */
  readonly key: string;
  /** Empty for a fixed answer. */
  readonly destinationId: string;
  readonly weight: number;
  readonly answer: DirectResponseAction | undefined;
  /** Undefined: none beyond the route's. */
  readonly edits: ShareEdits | undefined;
}

export interface ShareEdits {
  /** In place of the route's; undefined: the route's. */
  readonly rewrite: RewritePlan | undefined;
  /** After the route's. */
  readonly headers: Headers | undefined;
}

/** Returns the shares as listed. Problems of their rewrites are added to `problems`. */
export function compileShares(
  { destinations }: Forward,
  ofRoute: RewritePlan | undefined,
  problems: CompileProblem[],
): readonly Share[] {
  const seen = new Map<string, number>();
  return destinations.map((entry, at) => {
    const { destinationId = '', directResponse, weight = routeDefaults.weight } = entry;
    const count = (seen.get(destinationId) ?? 0) + 1;
    seen.set(destinationId, count);
    return {
      key: destinationId !== '' && count === 1 ? destinationId : `${destinationId}#${count}`,
      destinationId,
      weight,
      answer: directResponse && new DirectResponseAction(compileDirectResponse(directResponse)),
      edits: hasEdits(entry) ? compileEdits(entry, ofRoute, problems, ['forward', 'destinations', at]) : undefined,
    };
  });
}

function compileEdits(
  { headers, rewrite }: WeightedDestination,
  ofRoute: RewritePlan | undefined,
  problems: CompileProblem[],
  at: CompileProblem['path'],
): ShareEdits {
  const own = compileRewrite(rewrite, problems, [...at, 'rewrite']);
  return { rewrite: own && rewrittenOver(ofRoute, own), headers: headers && buildHeaders(headers) };
}

/** Returns whether an entry changes its requests, beyond what the route does. */
export const hasEdits = ({ headers, rewrite }: WeightedDestination): boolean =>
  headers !== undefined || rewrite !== undefined;
