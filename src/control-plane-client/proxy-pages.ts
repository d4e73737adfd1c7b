// Pages of the admin port of a proxy: whether it lives, whether it should get traffic, what it runs.

import { perKind } from '../model/kinds.ts';
import type { Clock } from '../util/clock.ts';
import { type AdminPage, jsonPage } from './admin-server.ts';
import type { CopyKeeper } from './cache-writer.ts';
import { maskedConfig } from './masked-config.ts';
import type { RemoteSource } from './remote-source.ts';

interface ShownListener {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly state: string;
  readonly reason?: string;
}

interface ShownCandidate {
  readonly rollout: string;
  readonly snapshotId: string;
  /** Percent. */
  readonly share: number;
}

export interface ProxyPagesOptions {
  readonly id: string;
  readonly source: Pick<RemoteSource, 'installed' | 'stream'>;
  readonly keeper: Pick<CopyKeeper, 'ageSeconds'>;
  readonly listeners: () => readonly ShownListener[];
  /** Candidate that is served beside the configuration, and its share of the clients. */
  readonly candidate: () => ShownCandidate | undefined;
  readonly clock: Clock;
}

const nothing = perKind(() => []);

export class ProxyPages {
  readonly #options: ProxyPagesOptions;
  #closing = false;

  constructor(options: ProxyPagesOptions) {
    this.#options = options;
  }

  /** Not ready from now on. */
  withdraw(): void {
    this.#closing = true;
  }

  get byPath(): Readonly<Record<string, () => AdminPage>> {
    return {
      '/healthz': () => jsonPage(200, { status: 'ok' }),
      '/readyz': () => this.#ready(),
      '/debug/config': () => this.#config(),
    };
  }

  /** Listeners that cannot open are named: that they are not open is no secret, and no reason to lose the others. */
  #ready(): AdminPage {
    const { source, keeper, listeners } = this.#options;
    const { installed, stream } = source;
    if (this.#closing) return jsonPage(503, { status: 'stopping' });
    if (installed === undefined) return jsonPage(503, { status: 'waiting for a configuration' });
    const closed = listeners().filter(({ state }) => state !== 'open');
    return jsonPage(200, {
      status: 'ok',
      controlPlane: stream === undefined ? 'disconnected' : 'connected',
      configuration: {
        from: installed.from === 'copy' ? 'last good copy' : 'control plane',
        ...(installed.from === 'copy' && { ageSeconds: keeper.ageSeconds }),
        index: installed.place?.index ?? null,
        snapshotId: installed.config.id,
      },
      closedListeners: closed.map(({ name, address, port, state, reason = '' }) => ({
        name,
        address,
        port,
        state,
        reason,
      })),
    });
  }

  #config(): AdminPage {
    const { id, source, listeners } = this.#options;
    const { installed } = source;
    const lists = installed === undefined ? nothing : maskedConfig(installed.config.snapshot, installed.secrets);
    const summary = installed && {
      id: installed.config.id,
      name: installed.config.name,
      createdAt: installed.config.createdAt,
    };
    const proxy = {
      id,
      index: installed?.place?.index ?? null,
      sha256: installed?.sha256 ?? null,
      candidate: this.#options.candidate() ?? null,
    };
    return jsonPage(200, { ...lists, snapshot: summary ?? null, proxy, listening: listeners() });
  }
}
