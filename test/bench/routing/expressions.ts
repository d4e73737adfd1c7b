// CPU of CEL programs: fifty of what people write, one after the other over one request, as a table of routes runs them;
// then the next request. Each request is seen anew, so that its query is parsed again.
import { compileCel } from '../../../src/expression/cel/compiled-program.ts';
import { mixedExpressions, mixedRequests } from '../../unit/expression/cel/mixed-expressions.ts';
import { cpuUs } from './cpu.ts';

const rounds = 16;
const passes = 500;

/** Mean of the middle half of the rounds, in nanoseconds per program. */
export function expressionNs(): number {
  const programs = mixedExpressions.map((source) => compileCel(source, 'request', 'bool'));
  const times = Array.from({ length: rounds }, () => {
    const start = cpuUs();
    for (let pass = 0; pass < passes; pass++) {
      for (const view of mixedRequests) {
        view.reset(view.facts);
        for (const program of programs) program.decide(view);
      }
    }
    return ((cpuUs() - start) * 1000) / passes / mixedRequests.length / programs.length;
  });
  const kept = times.sort((a, b) => a - b).slice(rounds >> 2, rounds - (rounds >> 2));
  return kept.reduce((sum, each) => sum + each, 0) / kept.length;
}
