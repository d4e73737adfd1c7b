import { expect } from 'chai';

import { fuzzFrames } from './fuzz.ts';

describe('decoding mutated frames', () => {
  it('ends in an error, a message or waiting, and never in an exception', () => {
    const { refused, decoded, waiting } = fuzzFrames(5_000, 42);
    expect(refused).to.be.greaterThan(2_000);
    expect(decoded).to.be.greaterThan(200);
    expect(waiting).to.be.greaterThan(200);
  });
});
