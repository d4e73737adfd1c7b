import { describeListenerMetrics } from '../../support/listener-metrics.ts';

describeListenerMetrics(undefined);
