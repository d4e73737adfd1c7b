import { describeListenerMetrics } from '../../support/listener-metrics.ts';

describeListenerMetrics(2);
