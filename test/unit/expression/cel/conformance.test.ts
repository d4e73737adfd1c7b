import { getConformanceSuite, type IncrementalTest } from '@bufbuild/cel-spec/testdata/tests.js';
import { expect } from 'chai';
import { compileCel } from '../../../../src/expression/cel/compiled-program.ts';

/**
 * Tests of the public suite that need nothing but an expression, and how many of them pass. A number that falls after a
 * change of the library or of the closures is a change of meaning for what users wrote; one that rises is raised here.
 */
const floor: Readonly<Record<string, number>> = {
  basic: 23,
  bindings_ext: 5,
  comparisons: 300,
  conversions: 70,
  fields: 23,
  fp_math: 30,
  integer_math: 54,
  lists: 34,
  logic: 25,
  macros: 33,
  parse: 111,
  plumbing: 2,
  string: 47,
  string_ext: 111,
  timestamps: 57,
};

/** Returns the value of an expression of constants: `undefined` when it is refused or fails. */
function outcome(source: string): unknown {
  try {
    return compileCel(source, 'claims', 'any').value({ claims: {}, now: 0 });
  } catch {
    return undefined;
  }
}

/**
 * Returns whether the test is about texts, numbers and truth alone: messages, types and variables are tests of the
 * library.
 */
function isPlain({ original }: IncrementalTest): boolean {
  const { bindings, typeEnv, container, disableMacros, checkOnly, resultMatcher } = original;
  if (Object.keys(bindings).length + typeEnv.length > 0 || container !== '' || disableMacros || checkOnly) return false;
  if (resultMatcher.case === 'evalError') return true;
  return expectedOf(original.resultMatcher) !== undefined;
}

function expectedOf({ case: kind, value }: IncrementalTest['original']['resultMatcher']): unknown {
  if (kind === undefined) return true;
  if (kind !== 'value') return undefined;
  const { case: type, value: expected } = value.kind;
  return type === 'boolValue' || type === 'int64Value' || type === 'doubleValue' || type === 'stringValue'
    ? expected
    : undefined;
}

const passes = ({ original: { expr, resultMatcher } }: IncrementalTest): boolean => {
  const found = outcome(expr);
  return resultMatcher.case === 'evalError' ? found === undefined : Object.is(found, expectedOf(resultMatcher));
};

describe('the conformance suite of expressions', () => {
  const suites = new Map(getConformanceSuite().suites.map((suite) => [suite.name, suite]));
  for (const [name, least] of Object.entries(floor)) {
    it(`passes at least ${least} of the plain tests of ${name}`, () => {
      const tests = suites.get(name)?.suites.flatMap((suite) => suite.tests) ?? [];
      expect(tests.filter(isPlain).filter(passes).length).to.be.at.least(least);
    });
  }
});
