// Configurations that the workers of a proxy have, or are given: one that they refuse leaves the one before it in force.
import type { Configuration } from '../../model/proxy-config.ts';

interface Held {
  readonly snapshot: Configuration;
}

export class KnownConfigurations {
  #inForce: Held | undefined;
  /** Taken up last; undefined once that is settled. */
  #given: Held | undefined;

  give(config: Held): void {
    this.#given = config;
  }

  /** Notes whether workers have it in force, or have refused it. */
  settle(config: Held, isInForce: boolean): void {
    if (isInForce) this.#inForce = config;
    if (this.#given === config) this.#given = undefined;
  }

  /** `candidate`: the one that is tried out. */
  list(candidate: Held | undefined): readonly Configuration[] {
    return [this.#inForce, this.#given, candidate].flatMap((held) => held?.snapshot ?? []);
  }
}
