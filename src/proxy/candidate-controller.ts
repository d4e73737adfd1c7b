// Candidates of one proxy as its source gives them (fleet.md §7): the candidate in force follows the wanted one step by
// step, in turn with activations; the share of clients that a candidate serves changes at once.

import type { Problem } from '../model/problem.ts';
import type { Candidate, ProxyConfig } from '../model/proxy-config.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Clock } from '../util/clock.ts';
import { vetoOf } from './worker/prepare-result.ts';
import type { Workers } from './worker/workers.ts';

export interface CandidateResult {
  /** As it is wanted now. */
  readonly candidate: Candidate;
  /** Why it is not served here, or not any more. Undefined: it is. */
  readonly refusal: string | undefined;
  /** Problems that closed a part, or the reason of the refusal; entities by id. */
  readonly problems: readonly Problem[];
  readonly tookMs: number;
}

type CandidateInstaller = Pick<Workers, 'offer' | 'share' | 'withdraw'>;

export interface CandidateControllerOptions {
  /** Undefined before the start. */
  readonly installer: () => CandidateInstaller | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onSettled: (outcome: CandidateResult) => void;
}

export class CandidateController {
  readonly #options: CandidateControllerOptions;
  #wanted: Candidate | undefined;
  /** In force beside the other. */
  #offered: Candidate | undefined;
  /** Problems that closed a part of it. */
  #problems: readonly Problem[] = [];
  /** Rollout of the last candidate that was refused or has become active: not taken up again. */
  #over = '';

  constructor(options: CandidateControllerOptions) {
    this.#options = options;
  }

  /** The candidate that is in force here; undefined when there is none. */
  get offered(): Candidate | undefined {
    return this.#offered;
  }

  /**
   * Takes the wanted candidate. One that goes keeps its share for as long as a configuration is being installed: it may be
   * older than that, and newer than what is in force, to which its clients would go back.
   * @param installing the configuration that is being installed; `promotion`: it is that candidate.
   */
  want(candidate: Candidate | undefined, installing: 'promotion' | 'another' | undefined): void {
    this.#wanted = candidate;
    const offered = this.#offered;
    if (offered === undefined || installing === 'promotion') return;
    const stays = candidate?.rollout === offered.rollout;
    if (!stays && installing !== undefined) return;
    if (stays) this.#offered = candidate;
    this.#options.installer()?.share(stays ? candidate.share : 0, (stays && candidate.shadowSample) || 0);
  }

  /** The configuration is the candidate's: it only needs to be promoted. */
  isOffered({ snapshot }: ProxyConfig): boolean {
    return this.#offered?.config.snapshot === snapshot;
  }

  /** Marks the candidate as active now. Returns the problems that closed parts of it when it was compiled. */
  promoted(): readonly Problem[] {
    this.#over = this.#offered?.rollout ?? this.#over;
    this.#offered = undefined;
    return this.#problems;
  }

  /** Drops the candidate because it has crashed a worker. */
  lost(reason: string): void {
    const candidate = this.#offered;
    this.#offered = undefined;
    if (candidate !== undefined) this.#refuse(candidate, reason, [{ pointer: '', message: reason }], 0);
  }

  /** One step towards what is wanted; undefined when there is none left. */
  step(): Promise<void> | undefined {
    const installer = this.#options.installer();
    const wanted = this.#wanted;
    const offered = this.#offered;
    if (installer === undefined || wanted?.rollout === offered?.rollout) return undefined;
    if (offered !== undefined) {
      this.#offered = undefined;
      this.#options.logger.info({ rollout: offered.rollout }, 'a candidate is withdrawn');
      return installer.withdraw();
    }
    return wanted === undefined || wanted.rollout === this.#over ? undefined : this.#offer(installer, wanted);
  }

  async #offer(installer: CandidateInstaller, wanted: Candidate): Promise<void> {
    const { clock, logger, onSettled } = this.#options;
    const startedMs = clock.monotonicMs();
    let problems: readonly Problem[];
    try {
      problems = await installer.offer(wanted);
    } catch (error) {
      const refusal = vetoOf(error);
      this.#refuse(wanted, refusal.veto, refusal.problems, clock.monotonicMs() - startedMs);
      return;
    }
    // What is wanted by now may be another share, or nothing.
    const now = this.#wanted?.rollout === wanted.rollout ? this.#wanted : undefined;
    this.#offered = now ?? wanted;
    this.#problems = problems;
    if (now === undefined) return;
    installer.share(now.share, now.shadowSample ?? 0);
    const about = { rollout: now.rollout, snapshot: now.config.id, share: now.share };
    if (now.shadowSample === undefined) logger.info(about, 'a candidate is tried out');
    else logger.info({ ...about, shadowSample: now.shadowSample }, 'requests are compared with a candidate');
    onSettled({ candidate: now, refusal: undefined, problems, tookMs: clock.monotonicMs() - startedMs });
  }

  #refuse(candidate: Candidate, refusal: string, problems: readonly Problem[], tookMs: number): void {
    const { rollout, config } = candidate;
    this.#over = rollout;
    this.#options.logger.error({ rollout, snapshot: config.id, problems: refusal }, 'a candidate is refused');
    this.#options.onSettled({ candidate, refusal, problems, tookMs });
  }
}
