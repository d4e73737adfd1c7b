// Record of one proxy at its node: its reports, and the consequences for the configuration it should have.

import type { ProxyState, ProxyView, Version } from '../model/answers/fleet-answers.ts';
import type { ListenerReport } from '../model/answers/proxy-messages.ts';
import type { Acknowledgement, TrafficWindow } from '../model/fleet-messages.ts';
import type { Problem } from '../model/problem.ts';
import { errorsOf } from '../traffic/traffic-totals.ts';
import type { ProxyQuestions } from './proxy-questions.ts';

export interface ProxyFacts {
  readonly id: string;
  readonly embedded: boolean;
  readonly boot: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly version: string;
  readonly node: string;
  readonly address: string;
  /** Unix milliseconds. */
  readonly connectedMs: number;
}

/** State of one activation on one proxy. */
export type Progress = 'installed' | 'refused' | 'pending';

export class ProxyRecord {
  readonly facts: ProxyFacts;
  isLive = true;
  lastSeenMs: number;
  /** Questions over its stream; undefined for the proxy within a node. */
  readonly questions: ProxyQuestions | undefined;
  #installed: Version | undefined;
  #refusedIndex = -1;
  #candidate: (Version & { readonly state: 'installed' | 'refused' }) | undefined;
  #problems: readonly Problem[] = [];
  #listeners: readonly ListenerReport[] = [];
  #rates: { readonly requestsPerSecond: number; readonly errorRate: number } | undefined;
  #reportedMs: number | undefined;

  constructor(facts: ProxyFacts, questions?: ProxyQuestions) {
    this.facts = facts;
    this.questions = questions;
    this.lastSeenMs = facts.connectedMs;
  }

  get problems(): readonly Problem[] {
    return this.#problems;
  }

  /**
   * Takes what the process says of one index. False: it has spoken of a newer one, and this word comes late.
   * @param snapshotId of the index, where it is known.
   */
  acknowledge(word: Acknowledgement, snapshotId: string | null, nowMs: number): boolean {
    this.lastSeenMs = nowMs;
    if (word.index < this.#heardIndex(word.of)) return false;
    this.#listeners = word.listeners;
    if (word.of === 'candidate') {
      this.#candidate = { index: word.index, snapshotId, sha256: word.sha256, state: word.state };
      if (word.state === 'refused') this.#problems = word.problems;
      return true;
    }
    this.#problems = word.problems;
    if (word.state === 'refused') this.#refusedIndex = word.index;
    else this.#installed = { index: word.index, snapshotId, sha256: word.sha256 };
    return true;
  }

  /** Newest index that the process has spoken of. */
  #heardIndex(of: Acknowledgement['of']): number {
    if (of === 'candidate') return this.#candidate?.index ?? 0;
    return Math.max(this.#installed?.index ?? 0, this.#refusedIndex);
  }

  onListeners(listeners: readonly ListenerReport[]): void {
    this.#listeners = listeners;
  }

  report(windows: readonly TrafficWindow[], nowMs: number): void {
    const seconds = (nowMs - (this.#reportedMs ?? this.facts.connectedMs)) / 1000;
    this.lastSeenMs = nowMs;
    this.#reportedMs = nowMs;
    if (windows.length === 0 || seconds <= 0) return;
    const requests = windows.reduce((total, window) => total + window.requests, 0);
    const failed = windows.reduce((total, window) => total + errorsOf(window), 0);
    this.#rates = { requestsPerSecond: requests / seconds, errorRate: requests === 0 ? 0 : failed / requests };
  }

  /** A later activation that is installed counts for an earlier one. */
  progress(index: number): Progress {
    if (!this.isLive) return 'pending';
    if (this.#installed !== undefined && this.#installed.index >= index) return 'installed';
    return this.#refusedIndex >= index ? 'refused' : 'pending';
  }

  /** Returns the state of the candidate of a rollout that began at that log index. */
  trial(since: number): Progress {
    const candidate = this.#candidate;
    return candidate === undefined || candidate.index < since ? 'pending' : candidate.state;
  }

  /** @param trialSince log index at which the rollout under way began; undefined: there is none. */
  view(wanted: Version | undefined, trialSince?: number): ProxyView {
    const { id, embedded, labels, version, node, address, connectedMs } = this.facts;
    return {
      id,
      embedded,
      labels,
      version,
      node,
      address,
      connectedAt: new Date(connectedMs).toISOString(),
      lastSeen: new Date(this.lastSeenMs).toISOString(),
      installed: this.#installed ?? null,
      wanted: wanted ?? null,
      candidate: this.#tried(trialSince),
      state: this.state(wanted?.index),
      problems: this.#problems,
      listeners: this.#listeners,
      requestsPerSecond: this.#rates?.requestsPerSecond ?? null,
      errorRate: this.#rates?.errorRate ?? null,
    };
  }

  #tried(since: number | undefined): Version | null {
    const candidate = this.#candidate;
    if (candidate === undefined || since === undefined || this.trial(since) !== 'installed') return null;
    const { index, snapshotId, sha256 } = candidate;
    return { index, snapshotId, sha256 };
  }

  /** @param wanted index of the active configuration; undefined while nothing is active. */
  state(wanted: number | undefined): ProxyState {
    if (!this.isLive) return 'disconnected';
    if (wanted === undefined) return 'current';
    const progress = this.progress(wanted);
    return progress === 'installed' ? 'current' : progress === 'refused' ? 'refused' : 'behind';
  }
}
