// Configuration as recorded requests are matched against it.
import type { Consumer } from '../../model/consumer.ts';
import type { Destination } from '../../model/destination.ts';
import type { Listener } from '../../model/listener.ts';
import { type Configuration, listOf } from '../../model/proxy-config.ts';
import { ShardedMap } from '../../util/sharded-map.ts';
import { ExplainedListener, schemeOf } from '../explain/explained-listener.ts';
import type { RoutingTable } from '../match/routing-table.ts';
import { trustsProxies } from '../message/forwarded-scheme.ts';
import type { Destinations } from './entry-change.ts';
import { replayEntry } from './replay-entry.ts';

export interface ReplayTable {
  readonly table: RoutingTable;
  readonly destinations: Destinations;
  readonly consumers: readonly Consumer[];
  /** Listeners that take requests, by id. */
  readonly listeners: ReadonlyMap<string, ReplayListener>;
}

interface ReplayListener {
  readonly explained: ExplainedListener;
  readonly scheme: 'http' | 'https';
  /** Answers by a redirect to https: every request, or, with trusted proxies, those that did not come to one by https. */
  readonly redirects: 'none' | 'all' | 'insecure';
  /** The handshake decides, and is not recorded. */
  readonly isStrict: boolean;
  /** Pages of errors, to be compared. */
  readonly errorPages: string | undefined;
  /** Its configuration, to be compared. */
  readonly settings: string;
}

/** In steps: `table` is compiled from `configuration`. */
export function* replayTable(configuration: Configuration, table: RoutingTable): Generator<void, ReplayTable> {
  const listeners = configuration.listeners.filter(({ protocol }) => protocol !== 'tcp');
  return {
    table: yield* table.withEntries(replayEntry),
    consumers: listOf(configuration, 'consumers'),
    destinations: yield* destinationsOf(configuration),
    listeners: new Map(
      listeners.map((listener) => [
        listener.id,
        {
          explained: new ExplainedListener(listener, { url: '/', headers: {}, listener: listener.id }),
          scheme: schemeOf(listener),
          redirects: redirectsOf(listener),
          isStrict: listener.tls?.strictServerName === true,
          errorPages: JSON.stringify(listener.errorPages),
          settings: JSON.stringify(listener),
        },
      ]),
    ),
  };
}

function redirectsOf(listener: Listener): ReplayListener['redirects'] {
  if (listener.tls !== undefined || listener.redirectToHttps === undefined) return 'none';
  return trustsProxies(listener) ? 'insecure' : 'all';
}

/** Destinations between two pauses. */
const stride = 256;

function* destinationsOf({ destinations }: Configuration): Generator<void, Destinations> {
  const byId = new ShardedMap<Destination>();
  for (const [at, destination] of destinations.entries()) {
    byId.set(destination.id, destination);
    if (at % stride === 0) yield;
  }
  return byId;
}
