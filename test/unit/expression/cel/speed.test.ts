import { expect } from 'chai';
import { compileCel } from '../../../../src/expression/cel/program.ts';
import { mixedExpressions, mixedRequest } from './mixed-expressions.ts';

describe('fifty mixed expressions', () => {
  const programs = mixedExpressions.map((source) => compileCel(source, 'request', 'bool'));

  it('take less than 5 µs of CPU each', () => {
    const passes = 400;
    const pass = (): number => programs.filter((program) => program.test(mixedRequest)).length;
    const agreed = pass();
    for (let i = 0; i < passes; i++) pass();
    const before = process.threadCpuUsage();
    for (let i = 0; i < passes; i++) expect(pass()).to.equal(agreed);
    const { user, system } = process.threadCpuUsage(before);
    expect(agreed).to.be.within(5, 45);
    expect((user + system) / passes / programs.length).to.be.below(5);
  });
});
