// Middleware type inlineAuthz (contract.md §8.8): the first rule whose condition is true allows or denies. Conditions that
// cannot be decided never let a request pass (expressions.md §6).
import { type CelProgram, compileCel } from '../../expression/cel/compiled-program.ts';
import type { RequestView } from '../../expression/cel/value-view.ts';
import { inlineAuthzDefaults } from '../../model/defaults.ts';
import type { InlineAuthzConfig } from '../../model/middleware/inline-authz-options.ts';
import type { LocalReply, LonePhases, MiddlewarePhases } from '../exchange/phase.ts';
import type { DryRun } from './dry-run.ts';

interface Rule {
  readonly condition: CelProgram<RequestView>;
  readonly allows: boolean;
}

export interface InlineAuthz extends MiddlewarePhases {
  /** One of the conditions reads the body. */
  readonly needsBody: boolean;
  readonly dryRun: DryRun;
}

/** Throws when a condition does not compile: a rule that is left out might have been one that denies. */
export function buildInlineAuthz(config: InlineAuthzConfig): InlineAuthz {
  const rules = config.rules.map(
    ({ cel, action }): Rule => ({ condition: compileCel(cel, 'request', 'bool'), allows: action === 'allow' }),
  );
  const { defaultAction, denyStatus, denyBody } = { ...inlineAuthzDefaults, ...config };
  const denial: LocalReply = { status: denyStatus, fields: ['Content-Type', 'application/json'], body: denyBody };
  const allows = (view: RequestView): boolean => {
    for (const { condition, allows } of rules) {
      const decision = condition.decide(view);
      if (decision === true) return allows;
      // A rule that allows and fails leaves the decision to those behind it, which is never the wider one.
      if (decision === 'exhausted' || (decision === 'error' && !allows)) return false;
    }
    return defaultAction === 'allow';
  };
  const alone: LonePhases = { onRequest: ({ request }) => (allows(request.view) ? undefined : denial) };
  return {
    alone,
    needsBody: rules.some(({ condition }) => condition.needsBody),
    dryRun: ({ view }) => (allows(view) ? {} : { answers: denyStatus }),
    ...alone,
  };
}
