// Rules across the fields of a class: exactly one action, a weight above 0. A field's own check is its decorator's.
import { registerDecorator } from 'class-validator';
import { type Constraint, recordConstraints } from './constraint.ts';
import type { Problem } from './problem.ts';
import { type Class, type Rule, recordClosed, recordRule } from './schema.ts';

/**
 * Rules across fields, each under a name that says what holds when it is kept. `said` is as much of them as a schema can
 * say; the rest is in the descriptions of the fields.
 */
export const Rules =
  <T extends object>(rules: Readonly<Record<string, Rule<T>>>, ...said: readonly Constraint[]) =>
  (target: Class<T>): void => {
    if (said.length > 0) recordConstraints(target, said);
    for (const [name, rule] of Object.entries(rules)) {
      const check = (object: object) => (object instanceof target ? rule(object) : []);
      recordRule(target, name, check);
      registerDecorator({
        name,
        target,
        propertyName: name,
        validator: { validate: (_value, args) => args === undefined || check(args.object).length === 0 },
      });
    }
  };

/** Class whose unknown fields are refused at every depth: a misspelling there opens what should be closed (architecture.md §6.10). */
export const Closed =
  () =>
  (target: Class): void =>
    recordClosed(target);

/** For rules: one problem when the condition holds. */
export const problemIf = (condition: boolean, pointer: string, message: string): readonly Problem[] =>
  condition ? [{ pointer, message }] : [];
