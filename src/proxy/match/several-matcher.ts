// Matcher of a field or parameter that may come more than once, where the matcher says what counts then (contract.md §6.3).
import type { Multiple } from '../../model/matcher.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import type { Matcher } from './request-matcher.ts';

interface Several {
  readonly kind: 'header' | 'query';
  readonly multiple: Multiple;
  readonly wanted: string;
  /** Value of each line or parameter, in order. */
  readonly valuesOf: (request: RoutedRequest) => readonly string[];
  readonly agrees: (value: string) => boolean;
  /** Pays for a look at so many bytes of values; absent: they cost nothing. */
  readonly pays?: (bytes: number, request: RoutedRequest) => boolean;
  /** Form of a value for display. */
  readonly shown: (value: string) => string;
}

/**
 * With `reject` a repeated field agrees, so that the entry takes the request if all else agrees, and then refuses it: no
 * other entry serves it instead.
 */
export function severalMatcher({ kind, multiple, wanted, valuesOf, agrees, pays, shown }: Several): Matcher {
  const tests = {
    first: ([first]) => first !== undefined && agrees(first),
    joined: (values) => values.length > 0 && agrees(values.join(', ')),
    any: (values) => values.some(agrees),
    reject: (values) => values.length > 1 || values.some(agrees),
  } satisfies Record<Multiple, (values: readonly string[]) => boolean>;
  const test = tests[multiple];
  const matcher: Matcher = {
    kind,
    needsBody: false,
    wanted: `${wanted} (${multiple})`,
    test(request) {
      const values = valuesOf(request);
      return (pays === undefined || pays(lengthOf(values), request)) && test(values);
    },
    found(request) {
      const values = valuesOf(request);
      return values.length === 0 ? undefined : shown(multiple === 'first' ? (values[0] ?? '') : values.join(', '));
    },
  };
  return multiple === 'reject' ? { ...matcher, refuses: (request) => valuesOf(request).length > 1 } : matcher;
}

const lengthOf = (values: readonly string[]): number => values.reduce((sum, { length }) => sum + length, 0);
