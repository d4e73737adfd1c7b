// Server of a proxy worker: an engine that executes the messages of main.
import type { MessagePort } from 'node:worker_threads';
import { LevelCell } from '../../telemetry/log-levels.ts';
import type { SpanBatches } from '../../telemetry/traces/span-batches.ts';
import type { Tracing } from '../../telemetry/traces/tracing.ts';
import type { Clock } from '../../util/clock.ts';
import { MetricBlock } from '../metrics/metric-block.ts';
import { limitedMismatches } from '../mismatches.ts';
import { RecentRequests } from '../requests/request-recorder.ts';
import { CookieRing } from '../shared/cookie-ring.ts';
import { Figures } from '../shared/figures.ts';
import { PlacementTable } from '../shared/placement-table.ts';
import { StoreReach } from '../shared/store-reach.ts';
import { TicketSecrets } from '../shared/ticket-secrets.ts';
import { WorkerServices } from './common-services.ts';
import { type CandidateChange, Engine } from './engine.ts';
import { ConfigReader, type PackedConfig } from './packed-config.ts';
import { vetoOf } from './prepare-result.ts';
import type { FromWorker, PackedChange, ToWorker, WorkerStart } from './protocol.ts';
import { remoteLogger } from './remote-logger.ts';
import { systemMs } from './system-time.ts';
import type { Source } from './variant.ts';

/** Parts of the thread that a worker runs in. */
export interface WorkerTools {
  readonly clock: Clock;
  /** Undefined: nothing is traced. */
  readonly tracing: Tracing | undefined;
  /** Spans that the tracing has recorded. */
  readonly spans: SpanBatches;
}

/** Messages that are executed one after the other. */
type InTurn = Exclude<ToWorker, { type: 'sync' | 'exposition' | 'outdated' | 'leased' }>;

/** Starts a worker that answers on the port. Returns the receiver of the messages of main. */
export function serveWorker(
  port: MessagePort,
  start: WorkerStart,
  { clock, tracing, spans }: WorkerTools,
): (message: ToWorker) => void {
  const { settings, ownPlaces, generation, place } = start;
  const cell = new Int32Array(generation);
  const post = (message: FromWorker): void => port.postMessage(message);
  const common = new WorkerServices({
    clock,
    seed: start.bucketSeed,
    offsetMs: systemMs() - clock.monotonicMs() - start.epochMs,
    wantKeys: (id) => post({ type: 'keysWanted', id }),
    wantLease: (wanted) => post({ type: 'leaseWanted', ...wanted }),
    sendLines: (batch) => port.postMessage({ type: 'lines', batch } satisfies FromWorker, [batch.bytes.buffer]),
  });
  const metrics = new MetricBlock(
    start.metrics,
    {
      define: (series) => post({ type: 'series', series }),
      forget: (listener) => post({ type: 'forgotten', listener }),
    },
    start.series,
  );
  const scrapes = new Map<number, (text: Uint8Array) => void>();
  let scrapeId = 0;
  const engine = new Engine({
    common: common.services,
    useBlocks: (blocks) => {
      common.blocks = blocks;
    },
    clock,
    telemetry: { logger: remoteLogger(post, new LevelCell(start.logLevel)) },
    settings,
    ownPlaces,
    storeReach: new StoreReach(start.storeReach),
    placements: start.placements && new PlacementTable(start.placements),
    cookieRing: new CookieRing(start.cookieRing),
    clients: start.clients,
    metrics,
    figures: new Figures(start.figures),
    recent: start.ring && new RecentRequests(start.ring, place, clock),
    mismatches: limitedMismatches((mismatch) => post({ type: 'mismatch', mismatch }), clock),
    onExample: (example) => post({ type: 'example', example }),
    tracing,
    scrape: (listener, collected) =>
      new Promise((resolve) => {
        const id = ++scrapeId;
        scrapes.set(id, resolve);
        post({ type: 'scrape', id, listener, collected });
      }),
    tickets: new TicketSecrets(start.tickets),
    threads: settings.workers,
    place,
    generation: () => Atomics.load(cell, 0),
  });
  const reader = new ConfigReader();
  const execute = async (message: InTurn): Promise<void> => {
    if (message.type === 'prepare') post(await prepared(engine, reader, message));
    else if (message.type === 'discovered') await engine.rediscover(message.key, message.endpoints, message.rows);
    else if (message.type === 'discard') engine.discard(message.generation);
    else if (message.type === 'commit') {
      const listeners = await engine.commit(message.busy, message.memory);
      post({ type: 'settled', generation: message.generation, listeners });
    } else if (message.type === 'close') {
      await engine.close(message.withinMs);
      common.lines.flush();
      spans.flush();
      post({ type: 'closed' });
      port.close();
    }
  };
  let work: Promise<void> = Promise.resolve();
  return (message) => {
    if (message.type === 'keys') common.keys.receive(message.id, message.document);
    else if (message.type === 'spansTaken') spans.taken();
    else if (message.type === 'keysForgotten') common.keys.forget(message.id);
    else if (message.type === 'linesWritten') common.lines.written(message.path, message.bytes);
    else if (message.type === 'leased') common.leases.settled(message.limit, message.rows);
    // Not in turn with installs: a scrape does not wait for them.
    else if (message.type === 'outdated') metrics.drop(message.listener, message.subjects);
    else if (message.type === 'sync') post({ type: 'synced', id: message.id });
    else if (message.type === 'exposition') {
      scrapes.get(message.id)?.(message.text);
      scrapes.delete(message.id);
    } else work = work.then(() => execute(message));
  };
}

async function prepared(
  engine: Engine,
  reader: ConfigReader,
  { generation, stable, candidate, keep }: Extract<ToWorker, { type: 'prepare' }>,
): Promise<FromWorker> {
  try {
    const change = { stable: stable && (await sourceOf(reader, stable)), candidate: await read(candidate) };
    const problems = await engine.prepare(generation, change);
    return { type: 'prepared', generation, result: { problems } };
  } catch (error) {
    return { type: 'prepared', generation, result: vetoOf(error) };
  } finally {
    reader.retain(keep);
  }

  async function read(change: PackedChange['candidate']): Promise<CandidateChange> {
    if (change.kind !== 'offered') return change;
    return { kind: 'offered', source: await sourceOf(reader, change.config), split: change.split };
  }
}

async function sourceOf(reader: ConfigReader, packed: PackedConfig): Promise<Source> {
  const { rows, discovered, blocks } = packed;
  return { config: await reader.read(packed), rows, discovered, blocks };
}
