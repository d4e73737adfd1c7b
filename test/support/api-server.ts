import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatAddress } from '../../src/api/address.ts';
import { type Api, type ApiDeps, type ApiOptions, createApi } from '../../src/api/api.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { LocalLog } from '../../src/cluster/local-log.ts';
import { Proposer } from '../../src/cluster/proposer.ts';
import { Feed } from '../../src/feed/feed.ts';
import { buildConfig } from '../../src/snapshot/build.ts';
import { DurableState } from '../../src/state/durable-state.ts';
import { generationDirectory, LevelStore } from '../../src/state/level-store.ts';
import { silentLogger } from '../../src/telemetry/logger.ts';
import { type Answer, call, type CallOptions } from './http-call.ts';

export interface ServerSetup extends Partial<Omit<ApiDeps, 'options'>> {
  readonly options?: Partial<ApiOptions>;
  readonly clock?: Clock;
}

/** A real API over a real state in a directory of its own, in this process. */
export class ApiServer {
  readonly api: Api;
  readonly feed: Feed;
  readonly directory: string;
  readonly base: string;
  readonly #state: DurableState;

  private constructor(parts: { api: Api; feed: Feed; directory: string; base: string; state: DurableState }) {
    this.api = parts.api;
    this.feed = parts.feed;
    this.directory = parts.directory;
    this.base = parts.base;
    this.#state = parts.state;
  }

  static async start({ options, ...deps }: ServerSetup = {}): Promise<ApiServer> {
    const directory = await mkdtemp(join(tmpdir(), 'sluice-api-'));
    const store = await LevelStore.open(generationDirectory(directory, 1));
    const state = await DurableState.open(store, { randomBytes });
    const nodeId = 'single';
    const clock = deps.clock ?? systemClock;
    const port = new LocalLog({ nodeId, applied: state.view.applied, clock });
    const log = new Proposer({ port, state, clock: systemClock, nodeId });
    const feed = new Feed();
    log.onActivation((activation) => feed.publish(buildConfig(activation)));
    const api = await createApi({
      view: state.view,
      log,
      feed,
      clock,
      logger: silentLogger,
      environment: {},
      checkConfig: () => ({ problems: [], warnings: [] }),
      installed: async () => ({ done: 2, of: 2 }),
      health: () => ({ ready: true, reason: '' }),
      clusterId: () => state.identity.clusterId,
      options: {
        address: '127.0.0.1:0',
        apiKeys: [],
        allowedHosts: [],
        shutdownTimeoutMs: 30_000,
        secretSources: {},
        ...options,
      },
      ...deps,
    });
    await api.listen();
    const base = `${options?.tls === undefined ? 'http' : 'https'}://${formatAddress(api.address)}`;
    return new ApiServer({ api, feed, directory, base, state });
  }

  /** A request to a path under /api/v1, or to one that begins with two slashes, from the root. */
  async call(method: string, path: string, options?: CallOptions): Promise<Answer> {
    return await call(this.base, method, path.startsWith('//') ? path.slice(1) : `/api/v1${path}`, options);
  }

  async stop(): Promise<void> {
    await this.api.close();
    await this.#state.close();
    await rm(this.directory, { recursive: true, force: true });
  }
}
