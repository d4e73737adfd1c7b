// Middleware type inlineAuthz (contract.md §8.8): the first rule whose condition is true allows or denies.
import { type CelProgram, compileCel } from '../../expression/cel/program.ts';
import type { RequestView } from '../../expression/cel/view.ts';
import { inlineAuthzDefaults } from '../../model/defaults.ts';
import type { InlineAuthzConfig } from '../../model/middleware/inline-authz.ts';
import type { LocalReply, MiddlewarePhases } from '../exchange/phase.ts';

interface Rule {
  readonly condition: CelProgram<RequestView>;
  readonly allows: boolean;
}

export interface InlineAuthz extends MiddlewarePhases {
  /** One of the conditions reads the body. */
  readonly needsBody: boolean;
  /** What the rules make of a request. */
  decide(view: RequestView): { readonly allows: boolean /** None decided. */; readonly rule: number | undefined };
}

/** Throws when a condition does not compile: a rule that is left out might have been one that denies. */
export function buildInlineAuthz(config: InlineAuthzConfig): InlineAuthz {
  const rules = config.rules.map(
    ({ cel, action }): Rule => ({ condition: compileCel(cel, 'request', 'bool'), allows: action === 'allow' }),
  );
  const { defaultAction, denyStatus, denyBody } = { ...inlineAuthzDefaults, ...config };
  const byDefault = { allows: defaultAction === 'allow', rule: undefined };
  const decisions = rules.map(({ allows }, rule) => ({ allows, rule }));
  const denial: LocalReply = { status: denyStatus, fields: ['Content-Type', 'application/json'], body: denyBody };
  const decide = (view: RequestView) => {
    for (let i = 0; i < rules.length; i++) {
      if (rules[i]?.condition.test(view) === true) return decisions[i] ?? byDefault;
    }
    return byDefault;
  };
  return {
    needsBody: rules.some(({ condition }) => condition.needsBody),
    decide,
    onRequest: ({ request }) => (decide(request.view).allows ? undefined : denial),
  };
}
