import { type CelInput, CelScalar, celEnv, isCelError, mapType, parse, plan } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { expect } from 'chai';
import { checkCel, compileCel } from '../../../../src/expression/cel/compiled-program.ts';
import { environments } from '../../../../src/expression/cel/environment.ts';
import { claimsContexts, ofClaims } from './claims-vocabulary.ts';
import { RandomExpression, type Vocabulary } from './random-expression.ts';
import { ofRequests, type RequestContext, requestContexts } from './request-vocabulary.ts';

/** Conditions; SLUICE_CEL_ROUNDS=20000 for the long run. */
const rounds = Number(process.env.SLUICE_CEL_ROUNDS ?? 1000);
const now = 1_700_000_000;

type Outcome = boolean | 'failed';
type Evaluator<Context> = (context: Context) => Outcome;

/** The closures; the library whose checked tree they are made from, with its own evaluator; a third that shares nothing with them. */
type Evaluators<Context> = (source: string) => readonly [Evaluator<Context>, Evaluator<Context>, Evaluator<Context>];

const outcome = (value: unknown): Outcome => (typeof value === 'boolean' ? value : 'failed');

function attempt(run: () => unknown): Outcome {
  try {
    const value = run();
    return outcome(isCelError(value) ? undefined : value);
  } catch {
    return 'failed';
  }
}

const dynMap = mapType(CelScalar.STRING, CelScalar.DYN);
const thirdOfClaims = celEnv({ variables: { claims: dynMap, now: CelScalar.INT } });
const thirdOfRequests = celEnv({ variables: { request: dynMap }, funcs: strings });

const overClaims: Evaluators<Readonly<Record<string, CelInput>>> = (source) => {
  const program = compileCel(source, 'claims', 'any');
  const library = environments.claims.parse(source);
  const oracle = plan(thirdOfClaims, parse(source));
  return [
    (claims) => outcome(program.value({ claims, now })),
    (claims) => attempt(() => library({ claims, now: BigInt(now) })),
    (claims) => attempt(() => oracle({ claims: new Map(Object.entries(claims)), now: BigInt(now) })),
  ];
};

const overRequests: Evaluators<RequestContext> = (source) => {
  const program = compileCel(source, 'request', 'any');
  const library = environments.request.parse(source);
  const oracle = plan(thirdOfRequests, parse(source));
  return [
    ({ view }) => outcome(program.value(view)),
    ({ plain }) => attempt(() => library({ request: plain })),
    ({ plain }) => attempt(() => oracle({ request: new Map(Object.entries(plain)) })),
  ];
};

/** Compares three evaluators on each condition that the environment accepts, in every context. */
function compareAll<Context>(
  environment: 'claims' | 'request',
  vocabulary: Vocabulary,
  contexts: readonly Context[],
  evaluators: Evaluators<Context>,
): void {
  const random = new RandomExpression(1, vocabulary);
  const seen = new Map<Outcome, number>();
  let accepted = 0;
  for (let round = 0; round < rounds; round++) {
    const source = random.condition();
    if (checkCel(source, environment, 'bool') !== undefined) continue;
    accepted++;
    const evaluate = evaluators(source);
    contexts.forEach((context, i) => {
      const [ours, theirs, oracles] = evaluate.map((each) => each(context));
      expect(ours, `${source} in context ${i}: the library`).to.equal(theirs);
      expect(ours, `${source} in context ${i}: the third`).to.equal(oracles);
      if (ours !== undefined) seen.set(ours, (seen.get(ours) ?? 0) + 1);
    });
  }
  expect(accepted).to.be.above(rounds * 0.6);
  for (const kind of [true, false, 'failed'] as const) expect(seen.get(kind), String(kind)).to.be.above(accepted / 2);
}

describe('random conditions', () => {
  it(`over claims mean the same to the closures, the library and a third evaluator, ${rounds} of them`, function () {
    this.timeout(Math.max(60_000, rounds * 100));
    compareAll('claims', ofClaims, claimsContexts, overClaims);
  });

  it(`over requests mean the same to the closures, the library and a third evaluator, ${rounds} of them`, function () {
    this.timeout(Math.max(60_000, rounds * 100));
    compareAll('request', ofRequests, requestContexts, overRequests);
  });
});
