// Mismatches between primaries and their mirrors: workers send them, main remembers the newest, with secrets masked.
import type { MismatchSide } from '../model/answers/request-answers.ts';
import type { MismatchSource, SeenMismatch } from '../model/mirror-mismatch.ts';
import type { Clock } from '../util/clock.ts';
import type { Difference, FoundMismatch } from './exchange/verdict.ts';
import { loggedField } from './middleware/log-text.ts';

const rememberedMax = 1_000;
const shownCharacters = 200;

/** Mismatches that a worker sends in a second; metrics count the others. */
const perSecondMax = 1_000;

/** Returns `send` for at most as many a second. */
export function limitedMismatches(
  send: (mismatch: FoundMismatch) => void,
  clock: Pick<Clock, 'monotonicMs'>,
): (mismatch: FoundMismatch) => void {
  let endMs = 0;
  let left = 0;
  return (mismatch) => {
    const nowMs = clock.monotonicMs();
    if (nowMs >= endMs) {
      endMs = nowMs + 1_000;
      left = perSecondMax;
    }
    if (left-- > 0) send(mismatch);
  };
}

export class Mismatches implements MismatchSource {
  readonly #masked: (text: string) => string;
  readonly #clock: Pick<Clock, 'nowMs'>;
  #list: SeenMismatch[] = [];

  /** @param masked a text without the secrets of the configurations in use */
  constructor(masked: (text: string) => string, clock: Pick<Clock, 'nowMs'>) {
    this.#masked = masked;
    this.#clock = clock;
  }

  take({ method, host, path, route, routeId, destination, result, ...difference }: FoundMismatch): void {
    const { pointer, header, primary, mirror } = difference;
    const request = { method: this.#masked(method), host: this.#masked(host), path: this.#masked(path) };
    this.#list.push({
      time: new Date(this.#clock.nowMs()).toISOString(),
      ...request,
      ...{ route: this.#masked(route), routeId, destination, result },
      pointer: pointer === undefined ? null : this.#masked(pointer).slice(0, shownCharacters),
      header: header ?? null,
      primary: this.#sideOf(primary, header),
      mirror: this.#sideOf(mirror, header),
    });
    // In batches: a shift for each would move the whole list.
    if (this.#list.length >= 2 * rememberedMax) this.#list = this.#list.slice(-rememberedMax);
  }

  list(limit: number): readonly SeenMismatch[] {
    return this.#list.slice(-Math.min(limit, rememberedMax)).reverse();
  }

  #sideOf({ status, text }: Difference['primary'], header: string | undefined): MismatchSide {
    if (text === undefined) return { status, value: null };
    const value = this.#masked(header === undefined ? text.text : loggedField(header, text.text));
    // A secret that begins before the difference is shown as its mask.
    let from = 0;
    while (from < text.from && value[from] === text.text[from]) from++;
    return { status, value: value.slice(from, from + shownCharacters) };
  }
}
