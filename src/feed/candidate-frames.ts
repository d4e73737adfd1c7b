// Frames of the events about a candidate (fleet.md §3): made once for each share, however many clients there are.
import type { Candidate } from '../model/proxy-config.ts';
import { digestOf, textOf } from './event-frames.ts';
import type { CandidateNews } from './feed.ts';

/** Candidate state that a client has been sent. */
export interface SentCandidate {
  /** Undefined: none, or it was withdrawn. */
  readonly rollout: string | undefined;
  readonly share: number;
  /** 0: no request is compared. */
  readonly shadowSample: number;
}

export const noCandidate: SentCandidate = { rollout: undefined, share: 0, shadowSample: 0 };

export class CandidateFrames {
  readonly #news: CandidateNews;
  readonly #begins = new Map<number, Buffer>();
  readonly #shares = new Map<number, Buffer>();
  /** Everything that is the same for all shares, which takes long. */
  #tail: string | undefined;

  /** @param former of the news before, of which the same candidate is not written again. */
  constructor(news: CandidateNews, former: CandidateFrames | undefined) {
    this.#news = news;
    if (former !== undefined && former.candidate?.config === news.candidate?.config) this.#tail = former.#tail;
  }

  get candidate(): Candidate | undefined {
    return this.#news.candidate;
  }

  /** Log index of the command. */
  get index(): number {
    return this.#news.index;
  }

  /** Returns the event that takes a client from one state to another; undefined: none is needed. */
  frame({ rollout, share, shadowSample }: SentCandidate, wanted: SentCandidate): Buffer | undefined {
    const { candidate, index } = this.#news;
    if (candidate === undefined) {
      return rollout === undefined ? undefined : event('withdraw', index, JSON.stringify({ rollout }));
    }
    if (rollout !== candidate.rollout) return this.#begin(candidate, wanted.share);
    const isSame = share === wanted.share && shadowSample === wanted.shadowSample;
    return isSame ? undefined : this.#share(candidate, wanted.share);
  }

  #begin(candidate: Candidate, share: number): Buffer {
    const known = this.#begins.get(share);
    if (known !== undefined) return known;
    const { rollout, shadowSample, by, key, deadmanMs, config } = candidate;
    const head = JSON.stringify({ rollout, share, shadowSample, by, key, deadmanMs });
    this.#tail ??= tailOf(config);
    const frame = event('candidate', this.#news.index, `${head.slice(0, -1)},${this.#tail}`);
    this.#begins.set(share, frame);
    return frame;
  }

  #share({ rollout, shadowSample }: Candidate, share: number): Buffer {
    const known = this.#shares.get(share);
    if (known !== undefined) return known;
    const frame = event('share', this.#news.index, JSON.stringify({ rollout, share, shadowSample }));
    this.#shares.set(share, frame);
    return frame;
  }
}

function tailOf(config: Candidate['config']): string {
  const secrets = JSON.stringify(config.secrets ?? []);
  return `"sha256":"${digestOf(config)}",${textOf(config).slice(1, -1)},"secrets":${secrets}}`;
}

const event = (name: string, index: number, data: string): Buffer =>
  Buffer.from(`event: ${name}\nid: ${index}\ndata: ${data}\n\n`);
