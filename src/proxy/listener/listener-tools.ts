// Listener tools: services of a worker for all its listeners.
import type { DataPlaneSettings } from '../../settings/data-plane-settings.ts';
import type { Telemetry } from '../../telemetry/logger.ts';
import type { Clock } from '../../util/clock.ts';
import type { ExchangeContext, Installed } from '../exchange/exchange-context.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import type { Collected } from '../metrics/families.ts';
import type { MetricBlock } from '../metrics/metric-block.ts';
import type { RecentRequests } from '../requests/request-recorder.ts';
import type { Figures } from '../shared/figures.ts';
import type { UnfinishedHeads } from '../socket/unfinished-heads.ts';
import type { FoundStream, StreamQuestion } from '../stream/stream-question.ts';
import type { ExchangeTraces } from '../tracing/exchange-traces.ts';
import type { Wheel } from '../wheel.ts';
import type { ClientBounds } from './connection-admission.ts';

export interface ListenerTools {
  /** Returns the configuration for a request on the listener at `place`, `address:port`. */
  readonly installed: (request: RoutedRequest, place: string) => Installed;
  /** Returns the route of a connection on a listener of protocol tcp, and the configuration that it is of. */
  readonly streamOf: (connection: StreamQuestion) => FoundStream | undefined;
  readonly clock: Clock;
  readonly wheel: Wheel;
  readonly telemetry: Telemetry;
  readonly metrics: MetricBlock;
  readonly figures: Figures;
  readonly recent: RecentRequests | undefined;
  readonly mismatches: ExchangeContext['mismatches'];
  /** Undefined when tracing is off. */
  readonly traces: ExchangeTraces | undefined;
  /** Returns the metrics of a listener, of all workers, as text. */
  readonly scrape: (listener: string, collected: Collected) => Promise<Uint8Array>;
  readonly settings: DataPlaneSettings;
  readonly clients: ClientBounds;
  /** Incomplete request heads of the thread. */
  readonly heads: UnfinishedHeads;
}
