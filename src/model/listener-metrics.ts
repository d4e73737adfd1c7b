// Metrics of a listener: what it counts and where it shows it (contract.md §2.2, §10).
import { listenerDefaults } from './defaults.ts';
import { AbsolutePath, Flag, ListOf, Nested } from './field.ts';
import { problemIf, Rules } from './rule.ts';
import { cidr, decimal } from './scalar.ts';

const { path, collect, histograms } = listenerDefaults.metrics;
const bucketsMax = 100;

export class MetricsCollect {
  @Flag('Families by route.', { default: collect.route })
  readonly route?: boolean;

  @Flag('Families by destination.', { default: collect.destination })
  readonly destination?: boolean;

  @Flag('Families by endpoint.', { default: collect.endpoint })
  readonly endpoint?: boolean;

  @Flag('Families by middleware.', { default: collect.middleware })
  readonly middleware?: boolean;

  @Flag('Families of the listener itself.', { default: collect.listener })
  readonly listener?: boolean;

  @Flag('Families by consumer.', { default: collect.consumer })
  readonly consumer?: boolean;
}

/** Index of the first bound that is not positive or not above the one before it; −1 when all are. */
const firstOutOfOrder = (bounds: readonly number[] = []): number =>
  bounds.findIndex((bound, index) => bound <= (index === 0 ? 0 : (bounds[index - 1] ?? 0)));

const increases = (name: 'durationBuckets' | 'sizeBuckets') => (histograms: MetricsHistograms) => {
  const index = firstOutOfOrder(histograms[name]);
  return problemIf(index >= 0, `/${name}/${index}`, 'must be above 0 and above the bound before it');
};

const aboveZero = { uniqueItems: true, items: { type: 'number', minimum: 0, exclusiveMinimum: true } };

@Rules<MetricsHistograms>(
  {
    durationBucketsIncrease: increases('durationBuckets'),
    sizeBucketsIncrease: increases('sizeBuckets'),
  },
  { properties: { durationBuckets: aboveZero, sizeBuckets: aboveZero } },
)
export class MetricsHistograms {
  @ListOf(decimal, 'Upper bounds of the duration histograms, in seconds, strictly increasing.', {
    default: histograms.durationBuckets,
    lengthMax: bucketsMax,
  })
  readonly durationBuckets?: readonly number[];

  @ListOf(decimal, 'Upper bounds of size histograms, in bytes, strictly increasing. No metric uses them yet.', {
    default: histograms.sizeBuckets,
    lengthMax: bucketsMax,
  })
  readonly sizeBuckets?: readonly number[];
}

export class ListenerMetrics {
  @AbsolutePath('Path that this listener answers with its metrics before any route.', { default: path })
  readonly path?: string;

  @Flag('Serve them on this listener; false: at `proxy.metrics.address` of the settings alone.', {
    default: listenerDefaults.metrics.onListener,
  })
  readonly onListener?: boolean;

  @ListOf(
    cidr,
    'Clients that may read the metrics here; a request of any other is routed as if there were none. Empty: all.',
    {
      default: listenerDefaults.metrics.allow,
      example: ['10.0.0.0/8'],
    },
  )
  readonly allow?: readonly string[];

  @Nested(MetricsCollect, 'Families to collect.')
  readonly collect?: MetricsCollect;

  @Nested(MetricsHistograms, 'Bounds of the histograms.')
  readonly histograms?: MetricsHistograms;
}
