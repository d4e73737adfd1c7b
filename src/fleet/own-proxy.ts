// The proxy within a node says the same of itself as one elsewhere does, within the process (fleet.md §4).
import type { Cancel, Clock } from '../clock.ts';
import type { ListenerReport } from '../model/fleet-messages.ts';
import { type Problem, problemsMax } from '../model/problem.ts';
import type { ProxyConfig } from '../model/proxy-config.ts';
import { secretsById, withoutSecrets } from '../model/secret-problems.ts';
import { type TrafficCounts, TrafficWindows } from '../model/traffic-windows.ts';
import type { Fleet } from './fleet.ts';

export interface OwnProxyOptions {
  readonly fleet: Fleet;
  readonly labels: Readonly<Record<string, string>>;
  readonly version: string;
  readonly clock: Clock;
}

/** What the data plane says when it is asked. */
export interface OwnProxySources {
  readonly listeners: () => readonly {
    readonly id: string;
    readonly state: 'open' | 'closed' | 'waiting';
    readonly reason?: string;
  }[];
  /** Since the start of the process. */
  readonly figures: () => TrafficCounts;
}

interface Settled {
  readonly config: ProxyConfig;
  readonly refusal: string | undefined;
  readonly problems: readonly Problem[];
  readonly tookMs: number;
}

const reportEveryMs = 10_000;

export class OwnProxy {
  readonly #options: OwnProxyOptions;
  readonly #windows = new TrafficWindows();
  #sources: OwnProxySources = { listeners: () => [], figures: () => ({ ...nothing, latency: [] }) };
  #cancel: Cancel = () => {};
  #ended = false;

  constructor(options: OwnProxyOptions) {
    this.#options = options;
  }

  begin(sources: OwnProxySources): void {
    this.#sources = sources;
    const { fleet, labels, version } = this.#options;
    fleet.embed({ labels, version });
    this.#schedule();
  }

  settled({ config, refusal, problems, tookMs }: Settled): void {
    const told = withoutSecrets(problems.slice(0, problemsMax), secretsById(config));
    const state = refusal === undefined ? 'installed' : 'refused';
    const word = { index: config.index, of: 'stable', state, tookMs: Math.round(tookMs) } as const;
    this.#options.fleet.acknowledgeOwn(
      { ...word, problems: told, listeners: reportsOf(this.#sources.listeners()) },
      config,
    );
  }

  close(): void {
    this.#ended = true;
    this.#cancel();
  }

  #schedule(): void {
    if (this.#ended) return;
    this.#cancel = this.#options.clock.after(reportEveryMs, () => {
      const { window, delivered } = this.#windows.report(this.#sources.figures());
      this.#options.fleet.reportOwn(window, reportsOf(this.#sources.listeners()));
      delivered();
      this.#schedule();
    });
  }
}

const nothing = { requests: 0, serverErrors: 0, clientErrors: 0, proxyErrors: 0 };

const reportsOf = (listeners: ReturnType<OwnProxySources['listeners']>): readonly ListenerReport[] =>
  listeners.map(({ id, state, reason }) => ({
    id,
    state: state === 'closed' ? 'failed' : state,
    ...(reason !== undefined && { reason }),
  }));
