// A mirror: copies of requests for another destination (contract.md §2.4.2, §7.13).
import { atMostOneOf, has } from './constraint.ts';
import { routeDefaults } from './defaults.ts';
import { Nested, Reference, Uint } from './field.ts';
import { MirrorCompare } from './mirror-compare.ts';
import { problemIf, Rules } from './rule.ts';

@Rules<Fraction>({
  notAboveTheWhole: ({ numerator, denominator = routeDefaults.fractionDenominator }) =>
    problemIf(numerator > denominator, '/numerator', `must not be above the denominator, ${denominator}`),
})
export class Fraction {
  @Uint('Requests that are copied, of as many as `denominator` says. 0: none.', { required: true, example: 1 })
  readonly numerator!: number;

  @Uint('Requests of which so many are copied.', { min: 1, default: routeDefaults.fractionDenominator, example: 1000 })
  readonly denominator?: number;
}

@Rules<Mirror>(
  {
    atMostOneShare: ({ percentage, fraction }) =>
      problemIf(percentage !== undefined && fraction !== undefined, '/fraction', 'must not stand beside percentage'),
  },
  atMostOneOf(has('percentage'), has('fraction')),
)
export class Mirror {
  @Reference('Id of the destination that gets a copy; its answers do not reach the client.', { required: true })
  readonly destinationId!: string;

  @Uint('Share of the requests that is copied, in percent. 0: none.', {
    max: 100,
    default: routeDefaults.mirrorPercentage,
  })
  readonly percentage?: number;

  @Nested(Fraction, 'Share of the requests that is copied, where whole percents are too coarse.')
  readonly fraction?: Fraction;

  @Nested(MirrorCompare, 'Comparison of its responses with those of the request itself. Absent: none.')
  readonly compare?: MirrorCompare;
}
