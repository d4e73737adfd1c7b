// Parts of entries that many have alike: hosts, methods, destinations. A table of a hundred thousand routes has few of each,
// and each is made once.
import type { Forward } from '../../model/forward.ts';
import { type DestinationChoice, destinationChoice } from '../forward/destination-choice.ts';
import { type Matcher, methodsMatcher } from '../match/matchers.ts';
import { type HostPattern, parseHostPattern } from '../target/host.ts';

/** What nobody shares is not worth remembering without end. */
const kindsMax = 10_000;

const noMatchers: readonly Matcher[] = [];

export class SharedParts {
  readonly #hosts = new Map<string, readonly HostPattern[]>();
  readonly #methods = new Map<string, Matcher>();
  readonly #alone = new Map<Matcher, readonly Matcher[]>();
  readonly #choices = new Map<string, DestinationChoice>();

  hosts(names: readonly string[]): readonly HostPattern[] {
    return shared(this.#hosts, JSON.stringify(names), () => names.map(parseHostPattern));
  }

  methods(methods: readonly string[]): Matcher {
    return shared(this.#methods, JSON.stringify(methods), () => methodsMatcher(methods));
  }

  /** A list of matchers; those that have one alone, or none, share theirs. */
  matchers(made: readonly Matcher[]): readonly Matcher[] {
    const [only, second] = made;
    if (only === undefined) return noMatchers;
    return second === undefined && only.kind === 'methods' ? shared(this.#alone, only, () => made) : made;
  }

  choice(forward: Forward): DestinationChoice {
    const { destinations, destinationBalancing } = forward;
    const key = JSON.stringify([destinations, destinationBalancing]);
    return shared(this.#choices, key, () => destinationChoice(forward));
  }
}

function shared<K, T>(map: Map<K, T>, key: K, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  if (map.size < kindsMax) map.set(key, made);
  return made;
}
