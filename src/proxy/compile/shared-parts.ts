// Parts of entries that many have alike: hosts, methods, destinations. A table of a hundred thousand routes has few of each,
// and each is made once.
import type { Forward } from '../../model/forward.ts';
import { commonBindings } from '../../model/listener-binding.ts';
import { type DestinationChoice, destinationChoice } from '../forward/destination-choice.ts';
import { compileShares } from '../forward/share.ts';
import { methodsMatcher } from '../match/matchers.ts';
import type { Matcher } from '../match/request-matcher.ts';
import { type HostPattern, parseHostPattern } from '../target/host.ts';
import { PlainForward } from './forward-of.ts';

/** Maximum number of parts that are remembered: many distinct ones are not shared. */
const kindsMax = 10_000;

const noHosts: readonly HostPattern[] = [];
const noMatchers: readonly Matcher[] = [];

export class SharedParts {
  readonly #hosts = new Map<string, readonly HostPattern[]>();
  readonly #bindings = new Map<string, readonly string[] | undefined>();
  readonly #methods = new Map<string, readonly Matcher[]>();
  readonly #choices = new Map<string, DestinationChoice>();
  readonly #oneHost = new Map<string, readonly HostPattern[]>();
  readonly #oneDestination = new Map<string, DestinationChoice>();
  readonly #plainForwards = new Map<DestinationChoice, PlainForward>();

  hosts(names: readonly string[]): readonly HostPattern[] {
    const [only, second] = names;
    if (only === undefined) return noHosts;
    if (second === undefined) return shared(this.#oneHost, only, () => names.map(parseHostPattern));
    return shared(this.#hosts, JSON.stringify(names), () => names.map(parseHostPattern));
  }

  /** Returns the bindings of an entry; undefined: all listeners. */
  bindings(ofGroup: readonly string[] = [], ofRoute: readonly string[] = []): readonly string[] | undefined {
    if (ofGroup.length === 0 && ofRoute.length === 0) return undefined;
    return shared(this.#bindings, JSON.stringify([ofGroup, ofRoute]), () => commonBindings(ofGroup, ofRoute));
  }

  methods(methods: readonly string[]): Matcher {
    return this.methodsAlone(methods)[0] ?? methodsMatcher(methods);
  }

  /** Returns the matchers of an entry that restricts only methods. */
  methodsAlone(methods: readonly string[]): readonly Matcher[] {
    if (methods.length === 0) return noMatchers;
    return shared(this.#methods, JSON.stringify(methods), () => [methodsMatcher(methods)]);
  }

  /** Returns the choice of a forward whose entries have no edits of their own. */
  choice(forward: Forward): DestinationChoice {
    const { destinations, destinationBalancing, failover } = forward;
    const make = (): DestinationChoice => destinationChoice(forward, compileShares(forward, undefined, []));
    const [only, second] = destinations;
    if (
      only?.destinationId !== undefined &&
      second === undefined &&
      only.weight === undefined &&
      destinationBalancing === undefined &&
      failover === undefined
    )
      return shared(this.#oneDestination, only.destinationId, make);
    return shared(this.#choices, JSON.stringify([destinations, destinationBalancing, failover]), make);
  }

  plainForward(choice: DestinationChoice): PlainForward {
    return shared(this.#plainForwards, choice, () => new PlainForward(choice));
  }
}

function shared<K, T>(map: Map<K, T>, key: K, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  if (map.size < kindsMax) map.set(key, made);
  return made;
}
