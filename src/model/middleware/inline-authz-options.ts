// Middleware type inlineAuthz: rules decide whether a request may pass (contract.md §8.8).
import { inlineAuthzDefaults } from '../defaults.ts';
import { Cel, ListOf, OneOf, Text, Uint } from '../field.ts';

export const authzActions = ['allow', 'deny'] as const;

export class InlineAuthzRule {
  @Cel('request', 'bool', 'Condition over `request`.', { required: true, example: 'request.method == "GET"' })
  readonly cel!: string;

  @OneOf(authzActions, 'What is done when the condition is true.', { required: true, example: 'allow' })
  readonly action!: (typeof authzActions)[number];
}

export class InlineAuthzConfig {
  @ListOf(InlineAuthzRule, 'Rules in order; the first whose condition is true decides.', {
    required: true,
    lengthMin: 1,
    lengthMax: 256,
  })
  readonly rules!: readonly InlineAuthzRule[];

  @OneOf(authzActions, 'What is done when no rule decides.', { default: inlineAuthzDefaults.defaultAction })
  readonly defaultAction?: (typeof authzActions)[number];

  @Uint('Status of a denial.', { min: 400, max: 599, default: inlineAuthzDefaults.denyStatus })
  readonly denyStatus?: number;

  @Text('Body of a denial, verbatim.', { default: inlineAuthzDefaults.denyBody })
  readonly denyBody?: string;
}
