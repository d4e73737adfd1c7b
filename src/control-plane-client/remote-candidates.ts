// Candidate that a control plane gives this proxy (fleet.md §3, §7): taken from the stream beside the stable
// configuration. Without contact for the dead man's time it serves no client, until contact is back.

import { describe, type Problem } from '../model/problem.ts';
import type { Candidate } from '../model/proxy-config.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import type { StreamEvent } from './control-plane-link.ts';
import {
  type CandidateShare,
  type ReceivedCandidate,
  readCandidateEvent,
  readShareEvent,
  UnusableEvent,
} from './received-config.ts';

/** Status of a candidate: it is served here, or the reasons why it is not. */
export interface CandidateStatus {
  readonly index: number;
  readonly sha256: string;
  readonly isLive: boolean;
  readonly problems: readonly Problem[];
  /** Strings that came from secrets; undefined: not known. */
  readonly secrets: readonly string[] | undefined;
  readonly tookMs: number;
}

interface InstallResult {
  readonly isLive: boolean;
  readonly problems: readonly Problem[];
  readonly tookMs: number;
}

interface Held {
  readonly received: ReceivedCandidate;
  /** As it came; what a copy of it consists of. */
  readonly data: string;
  readonly candidate: Candidate;
  readonly clusterId: string;
  /** Result of the data plane; undefined while it is not known. */
  readonly outcome: InstallResult | undefined;
}

export interface RemoteCandidatesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with each new status. */
  readonly onWord: (word: CandidateStatus) => void;
}

export class RemoteCandidates {
  readonly #options: RemoteCandidatesOptions;
  readonly #subscribers = new Set<(candidate: Candidate | undefined) => void>();
  #held: Held | undefined;
  #floor = { clusterId: '', index: -1 };
  #clusterId = '';
  #contactMs: number;
  #isSilent = false;
  #cancel: Cancel = () => {};

  constructor(options: RemoteCandidatesOptions) {
    this.#options = options;
    this.#contactMs = options.clock.monotonicMs();
  }

  /** Rollout whose candidate is here. */
  get rollout(): string | undefined {
    return this.#held?.candidate.rollout;
  }

  /** Newest known command about candidates: events of a node that lags behind are old. */
  get heard(): { readonly clusterId: string; readonly index: number } {
    return this.#floor;
  }

  /** Received form of the candidate. */
  get held(): Pick<Held, 'received' | 'data'> | undefined {
    return this.#held;
  }

  subscribe(subscriber: (candidate: Candidate | undefined) => void): () => void {
    this.#subscribers.add(subscriber);
    if (this.#held !== undefined) subscriber(this.#effective(this.#held.candidate));
    return () => this.#subscribers.delete(subscriber);
  }

  /** A stream of that cluster is open. What another cluster tried out is over. */
  opened(clusterId: string): void {
    this.#clusterId = clusterId;
    if (this.#held !== undefined && this.#held.clusterId !== clusterId) this.#drop();
  }

  /** A byte of the stream, or a report that was accepted. */
  contact(): void {
    this.#contactMs = this.#options.clock.monotonicMs();
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#options.logger.info(
      { rollout: this.rollout },
      'the control plane is heard again: the candidate serves as before',
    );
    this.#notify();
    this.#watch();
  }

  onEvent({ event, id, data }: StreamEvent): void {
    const numbered = id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
    const index = numbered ?? 0;
    const isOlder = this.#floor.clusterId === this.#clusterId && index < this.#floor.index;
    if (isOlder) return;
    this.#floor = { clusterId: this.#clusterId, index };
    try {
      if (event === 'withdraw') this.#drop();
      else if (event === 'share') this.#share(data, index);
      else if (event === 'candidate') this.#take(data, index);
    } catch (error) {
      const reason = error instanceof UnusableEvent ? error.message : 'it cannot be read';
      this.#options.logger.error({ index: numbered, event, reason }, 'what is said of a candidate cannot be used');
      this.#drop();
      const problems = [{ pointer: '', message: reason }];
      this.#options.onWord({ index, sha256: '', isLive: false, problems, secrets: [], tookMs: 0 });
    }
  }

  /** Takes the result of the data plane for the candidate of that rollout. */
  settle(rollout: string, outcome: InstallResult): void {
    if (this.#held?.candidate.rollout !== rollout) return;
    this.#held = { ...this.#held, outcome };
    this.#postStatus();
  }

  close(): void {
    this.#cancel();
  }

  #take(data: string, index: number): void {
    const { rollout } = this;
    const received = readCandidateEvent(data);
    const { head } = received;
    if (rollout === head.rollout && this.#held?.received.sha256 === received.sha256) {
      this.#update(head, index);
      return;
    }
    const { problems, warnings } = received;
    const about = { rollout: head.rollout, snapshot: received.config.id };
    if (problems.length > 0)
      this.#options.logger.error({ ...about, problems: describe(problems) }, 'parts of a candidate are closed');
    if (warnings.length > 0)
      this.#options.logger.warn({ ...about, problems: describe(warnings) }, 'parts of a candidate fall back');
    const candidate = { ...head, index, since: index, config: { ...received.config, index } };
    this.#held = { received, data, candidate, clusterId: this.#clusterId, outcome: undefined };
    this.#notify();
    this.#watch();
  }

  #share(data: string, index: number): void {
    const share = readShareEvent(data);
    if (share.rollout === this.rollout) this.#update(share, index);
  }

  #update({ share, shadowSample }: CandidateShare, index: number): void {
    if (this.#held === undefined) return;
    const { shadowSample: _, ...others } = this.#held.candidate;
    const candidate = { ...others, share, ...(shadowSample !== undefined && { shadowSample }), index };
    this.#held = { ...this.#held, candidate };
    this.#notify();
    // The control plane that holds the stream may not know yet what became of it here.
    this.#postStatus();
  }

  #postStatus(): void {
    if (this.#held?.outcome === undefined) return;
    const { received, candidate, outcome } = this.#held;
    const { sha256, secrets } = received;
    const problems = [...received.problems, ...outcome.problems];
    this.#options.onWord({ ...outcome, index: candidate.index, sha256, problems, secrets });
  }

  #drop(): void {
    if (this.#held === undefined) return;
    this.#held = undefined;
    this.#isSilent = false;
    this.#cancel();
    this.#notify();
  }

  #effective(candidate: Candidate): Candidate {
    return this.#isSilent ? { ...candidate, share: 0 } : candidate;
  }

  #notify(): void {
    const candidate = this.#held && this.#effective(this.#held.candidate);
    for (const subscriber of [...this.#subscribers]) subscriber(candidate);
  }

  #watch(): void {
    this.#cancel();
    if (this.#held === undefined) return;
    const { clock, logger } = this.#options;
    const { deadmanMs, rollout } = this.#held.candidate;
    const leftMs = this.#contactMs + deadmanMs - clock.monotonicMs();
    this.#cancel = clock.after(Math.max(0, leftMs), () => {
      if (clock.monotonicMs() - this.#contactMs < deadmanMs) {
        this.#watch();
        return;
      }
      this.#isSilent = true;
      logger.warn({ rollout, deadmanMs }, 'the control plane is not heard: the candidate serves no client until it is');
      this.#notify();
    });
  }
}
