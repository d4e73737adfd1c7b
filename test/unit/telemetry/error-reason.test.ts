import { expect } from 'chai';
import { reasonOf } from '../../../src/telemetry/error-reason.ts';

describe('the reason of a failure', () => {
  for (const [what, error, reason] of [
    ['is its message', new Error('refused'), 'refused'],
    ['is that of the first of several', new AggregateError([new Error('a'), new Error('b')], 'all'), 'a'],
    ['is inside where the outside says nothing', new Error('', { cause: new Error('inner') }), 'inner'],
    ['is the outside where both speak', new Error('outer', { cause: new Error('inner') }), 'outer'],
    ['is the name where nobody says anything', new TypeError(''), 'TypeError'],
    ['is the name of several that are none', new AggregateError([]), 'AggregateError'],
    ['is whatever was thrown', 'text', 'text'],
  ] as const)
    it(what, () => expect(reasonOf(error)).to.equal(reason));
});
