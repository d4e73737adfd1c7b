// Stream question: what decides the route of a connection, and the answer.
import type { Installed } from '../exchange/exchange-context.ts';
import type { ServedSection } from '../message/routed-request.ts';
import type { StreamPlan } from './stream-plan.ts';

/** Connection of a listener of protocol tcp. */
export interface StreamQuestion {
  /** `address:port` of the listener. */
  readonly place: string;
  /** Id of the listener, of which a place may have two. */
  readonly listener: string;
  /** In lower case; empty: none. */
  readonly serverName: string;
  readonly clientIp: string;
}

export interface FoundStream {
  readonly plan: StreamPlan;
  readonly section: ServedSection;
  readonly installed: Installed;
}
