// Messages between main and a proxy worker. Main leads: prepare, and when all are prepared, commit; a request takes the
// new table from the moment the shared generation number changes (proxy.md, Table cut-over).

import type { OwnPlace } from '../../model/listener-place.ts';
import type { DataPlaneSettings } from '../../settings/data-plane-settings.ts';
import type { SpanBatch } from '../../telemetry/traces/span-batches.ts';
import type { LineBatch } from '../access-log/line-batches.ts';
import type { FoundMismatch } from '../exchange/verdict.ts';
import type { WantedLease } from '../lease/wanted-lease.ts';
import type { BusyPlace, ListenerStatus } from '../listener/listeners.ts';
import type { Collected } from '../metrics/families.ts';
import type { Series } from '../metrics/metric-block.ts';
import type { RingShape } from '../requests/request-ring.ts';
import type { FoundExample } from '../shadow/example-log.ts';
import type { ListenerMemory } from '../shared/listener-loads.ts';
import type { EndpointRows } from '../shared/upstream-states.ts';
import type { FoundAddress } from '../upstream/endpoint-address.ts';
import type { PackedConfig } from './packed-config.ts';
import type { PrepareResult } from './prepare-result.ts';
import type { Split } from './variant.ts';

export interface WorkerStart {
  readonly settings: DataPlaneSettings;
  /** Ports of the process itself. */
  readonly ownPlaces: readonly OwnPlace[];
  /** ClientLoad of the process. */
  readonly clients: SharedArrayBuffer;
  /** One number: the generation in force. */
  readonly generation: SharedArrayBuffer;
  /** TicketSecrets of the process. */
  readonly tickets: SharedArrayBuffer;
  /** Index of this worker. */
  readonly place: number;
  /** Metrics of the worker, with the values that an earlier worker at that place left there. */
  readonly metrics: SharedArrayBuffer;
  readonly series: readonly Series[];
  readonly figures: SharedArrayBuffer;
  /** Memory of recent requests, if they are remembered. */
  readonly ring: RingShape | undefined;
  /** Vitals of the worker's thread. */
  readonly vitals: SharedArrayBuffer;
  /** StoreReach of the process. */
  readonly storeReach: SharedArrayBuffer;
  /** PlacementTable of the process; undefined where there is no store of sessions. */
  readonly placements: SharedArrayBuffer | undefined;
  /** CookieRing of the process. */
  readonly cookieRing: SharedArrayBuffer;
  /** A LevelCell. */
  readonly logLevel: SharedArrayBuffer;
  /** See TokenBuckets. */
  readonly bucketSeed: number;
  /** Reading of the system's clock, in milliseconds, from which all workers count. */
  readonly epochMs: number;
  /** 0 to 1; undefined: nothing is traced. */
  readonly traceRatio: number | undefined;
}

/** See Change. */
export interface PackedChange {
  readonly stable: PackedConfig | undefined;
  readonly candidate:
    | { readonly kind: 'kept' }
    | { readonly kind: 'none' }
    | { readonly kind: 'offered'; readonly config: PackedConfig; readonly split: Split }
    | { readonly kind: 'promoted'; readonly index: number };
  /** Numbers of the configurations that a later one may change, itself among them. */
  readonly keep: readonly number[];
}

export type ToWorker =
  /** Compile beside what is in force. Answered by `prepared`. */
  | ({ readonly type: 'prepare'; readonly generation: number } & PackedChange)
  /** The generation is in force: bring the listeners in line. Answered by `settled`. */
  | {
      readonly type: 'commit';
      readonly generation: number;
      readonly busy: readonly BusyPlace[];
      readonly memory: ListenerMemory;
    }
  /** The destination with that key has other endpoints than before, though nothing was activated. */
  | {
      readonly type: 'discovered';
      readonly key: string;
      readonly endpoints: readonly FoundAddress[];
      readonly rows: EndpointRows;
    }
  /** A worker could not prepare the generation: forget it. */
  | { readonly type: 'discard'; readonly generation: number }
  /** Keys of a jwt middleware; undefined when they could not be fetched. */
  | { readonly type: 'keys'; readonly id: string; readonly document: string | undefined }
  /** The middleware of these keys is gone. */
  | { readonly type: 'keysForgotten'; readonly id: string }
  /** Number of bytes of access log lines that have been written. */
  | { readonly type: 'linesWritten'; readonly path: string; readonly bytes: number }
  /** Main has heard of the leader about those rows of leased buckets. */
  | { readonly type: 'leased'; readonly limit: string; readonly rows: readonly number[] }
  /** One more batch of spans has come. */
  | { readonly type: 'spansTaken' }
  /** Metrics of these subjects of a listener are obsolete: drop them. */
  | { readonly type: 'outdated'; readonly listener: string; readonly subjects: readonly string[] }
  /** Answered by `synced` once everything that was counted has a meaning that main knows. */
  | { readonly type: 'sync'; readonly id: number }
  /** The text that a `scrape` asked for. */
  | { readonly type: 'exposition'; readonly id: number; readonly text: Uint8Array }
  /** Answered by `closed`. */
  | { readonly type: 'close'; readonly withinMs: number };

export type FromWorker =
  /** Meaning of places in the worker's block of numbers. */
  | { readonly type: 'series'; readonly series: readonly Series[] }
  | { readonly type: 'forgotten'; readonly listener: string }
  | { readonly type: 'synced'; readonly id: number }
  /** Answered by `exposition`. */
  | { readonly type: 'scrape'; readonly id: number; readonly listener: string; readonly collected: Collected }
  | { readonly type: 'prepared'; readonly generation: number; readonly result: PrepareResult }
  | { readonly type: 'settled'; readonly generation: number; readonly listeners: readonly ListenerStatus[] }
  | { readonly type: 'closed' }
  /** A token names an unknown key. Answered by `keys`. */
  | { readonly type: 'keysWanted'; readonly id: string }
  /** Tokens of a row of leased buckets are lacking, or few are left. Answered by `leased`. */
  | ({ readonly type: 'leaseWanted' } & WantedLease)
  /** Answered by `linesWritten`. */
  | { readonly type: 'lines'; readonly batch: LineBatch }
  | { readonly type: 'mismatch'; readonly mismatch: FoundMismatch }
  | { readonly type: 'example'; readonly example: FoundExample }
  /** Answered by `spansTaken`. */
  | { readonly type: 'spans'; readonly batch: SpanBatch }
  | {
      readonly type: 'crashed' /** Method and target being served. */;
      readonly request: string;
      readonly stack: string;
    }
  | {
      readonly type: 'log';
      readonly level: 'debug' | 'info' | 'warn' | 'error';
      readonly fields: Readonly<Record<string, unknown>>;
      readonly message: string;
    };
