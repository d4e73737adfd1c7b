import { type CelInput, CelScalar, celEnv, isCelError, mapType, parse, plan } from '@bufbuild/cel';
import { expect } from 'chai';
import { environments } from '../../../../src/expression/cel/environment.ts';
import { checkCel, compileCel } from '../../../../src/expression/cel/program.ts';
import { contexts, RandomExpression } from './random-expression.ts';

/** Conditions; SLUICE_CEL_ROUNDS=20000 for the long run. */
const rounds = Number(process.env.SLUICE_CEL_ROUNDS ?? 1000);
const now = 1_700_000_000;

type Outcome = boolean | 'failed';
type Evaluator = (claims: Readonly<Record<string, CelInput>>) => Outcome;

const outcome = (value: unknown): Outcome => (typeof value === 'boolean' ? value : 'failed');

function closures(source: string): Evaluator {
  const program = compileCel(source, 'claims', 'any');
  return (claims) => outcome(program.value({ claims, now }));
}

/** The library whose checked tree the closures are made from, with its own evaluator. */
function library(source: string): Evaluator {
  const run = environments.claims.parse(source);
  return (claims) => attempt(() => run({ claims, now: BigInt(now) }));
}

const oracleEnvironment = celEnv({
  variables: { claims: mapType(CelScalar.STRING, CelScalar.DYN), now: CelScalar.INT },
});

/** A third evaluator, that shares nothing with the others. */
function oracle(source: string): Evaluator {
  const run = plan(oracleEnvironment, parse(source));
  return (claims) =>
    attempt(() => {
      const result = run({ claims: new Map(Object.entries(claims)), now: BigInt(now) });
      return isCelError(result) ? undefined : result;
    });
}

function attempt(run: () => unknown): Outcome {
  try {
    return outcome(run());
  } catch {
    return 'failed';
  }
}

describe('random conditions', () => {
  it(`mean the same to the closures, the library and a third evaluator, ${rounds} of them`, function () {
    this.timeout(Math.max(10_000, rounds * 20));
    const random = new RandomExpression(1);
    const seen = new Map<Outcome, number>();
    let accepted = 0;
    for (let round = 0; round < rounds; round++) {
      const source = random.condition();
      if (checkCel(source, 'claims', 'bool') !== undefined) continue;
      accepted++;
      const evaluators = [closures(source), library(source), oracle(source)];
      for (const context of contexts) {
        const [ours, theirs, third] = evaluators.map((evaluate) => evaluate(context));
        const what = `${source} with ${JSON.stringify(context)}`;
        expect(ours, `${what}: the library`).to.equal(theirs);
        expect(ours, `${what}: the third`).to.equal(third);
        if (ours !== undefined) seen.set(ours, (seen.get(ours) ?? 0) + 1);
      }
    }
    expect(accepted).to.be.above(rounds * 0.6);
    for (const kind of [true, false, 'failed'] as const) expect(seen.get(kind), String(kind)).to.be.above(accepted / 2);
  });
});
