// Local proxy: the proxy within a node reports the same as one elsewhere does, within the process (fleet.md §4).

import type { ListenerReport } from '../model/answers/proxy-messages.ts';
import { type Problem, problemsMax } from '../model/problem.ts';
import type { Candidate, ProxyConfig } from '../model/proxy-config.ts';
import { secretsById, withoutSecrets } from '../model/secret-problems.ts';
import { noTraffic, TrafficWindows, type VariantCounts } from '../model/traffic-windows.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import type { Fleet } from './fleet.ts';

export interface LocalProxyOptions {
  readonly fleet: Fleet;
  readonly labels: Readonly<Record<string, string>>;
  readonly version: string;
  readonly clock: Clock;
}

/** State of the data plane, read on request. */
export interface LocalProxySources {
  readonly listeners: () => readonly {
    readonly id: string;
    readonly state: 'open' | 'closed' | 'waiting';
    readonly reason?: string;
  }[];
  /** Since the start of the process. */
  readonly figures: () => VariantCounts;
  /** A candidate is served beside the other. */
  readonly isTrying: () => boolean;
}

interface SettledCandidate {
  readonly candidate: Candidate;
  readonly refusal: string | undefined;
  readonly problems: readonly Problem[];
  readonly tookMs: number;
}

interface Settled {
  readonly config: ProxyConfig;
  readonly refusal: string | undefined;
  readonly problems: readonly Problem[];
  readonly tookMs: number;
}

const reportEveryMs = 10_000;
const candidateReportMs = 1_000;

export class LocalProxy {
  readonly #options: LocalProxyOptions;
  readonly #windows = new TrafficWindows();
  #sources: LocalProxySources = {
    listeners: () => [],
    figures: () => ({ stable: noTraffic, candidate: noTraffic }),
    isTrying: () => false,
  };
  #cancel: Cancel = () => {};
  #ended = false;

  constructor(options: LocalProxyOptions) {
    this.#options = options;
  }

  begin(sources: LocalProxySources): void {
    this.#sources = sources;
    const { fleet, labels, version } = this.#options;
    fleet.embed({ labels, version });
    this.#schedule();
  }

  settled({ config, refusal, problems, tookMs }: Settled): void {
    const told = withoutSecrets(problems.slice(0, problemsMax), secretsById(config));
    const state = refusal === undefined ? 'installed' : 'refused';
    const word = { index: config.index, of: 'stable', state, tookMs: Math.round(tookMs) } as const;
    this.#options.fleet.acknowledgeLocal(
      { ...word, problems: told, listeners: reportsOf(this.#sources.listeners()) },
      config,
    );
  }

  tried({ candidate, refusal, problems, tookMs }: SettledCandidate): void {
    const told = withoutSecrets(problems.slice(0, problemsMax), secretsById(candidate.config));
    const state = refusal === undefined ? 'installed' : 'refused';
    if (refusal === undefined) this.#windows.begin(candidate.rollout, this.#sources.figures());
    const word = { index: candidate.index, of: 'candidate', state, tookMs: Math.round(tookMs) } as const;
    const listeners = reportsOf(this.#sources.listeners());
    this.#options.fleet.acknowledgeLocalCandidate({ ...word, problems: told, listeners }, candidate);
    this.#schedule();
  }

  close(): void {
    this.#ended = true;
    this.#cancel();
  }

  #schedule(): void {
    this.#cancel();
    if (this.#ended) return;
    const everyMs = this.#sources.isTrying() ? candidateReportMs : reportEveryMs;
    this.#cancel = this.#options.clock.after(everyMs, () => {
      if (!this.#sources.isTrying()) this.#windows.begin(null, this.#sources.figures());
      const { window, delivered } = this.#windows.report(this.#sources.figures());
      this.#options.fleet.reportOwn(window, reportsOf(this.#sources.listeners()));
      delivered();
      this.#schedule();
    });
  }
}

const reportsOf = (listeners: ReturnType<LocalProxySources['listeners']>): readonly ListenerReport[] =>
  listeners.map(({ id, state, reason }) => ({
    id,
    state: state === 'closed' ? 'failed' : state,
    ...(reason !== undefined && { reason }),
  }));
