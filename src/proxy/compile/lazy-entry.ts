// An entry as it is kept. The plan of a plain forward, of which nothing can be wrong, is made for the first request that the
// entry wins: of a hundred thousand routes most win none between two activations.
import type { ProxyErrorType } from '../../errors.ts';
import type { Group } from '../../model/group.ts';
import type { Route } from '../../model/route.ts';
import type { ErrorPages, Link, Refusing } from '../exchange/entry.ts';
import type { Matcher } from '../match/request-matcher.ts';
import type { Action, ChainLink, Ranked, RankedEntry } from '../match/route-entry.ts';
import type { HostPattern } from '../target/host.ts';
import type { EntryPath } from '../target/path.ts';

export interface EntryParts extends Ranked {
  readonly group: Group | undefined;
  readonly path: EntryPath;
  readonly bindings: readonly string[] | undefined;
  readonly hosts: readonly HostPattern[];
  readonly matchers: readonly Matcher[];
  readonly chain: readonly ChainLink[];
  readonly links: readonly Link[];
  readonly refusing: readonly Refusing[] | undefined;
  readonly closed: ProxyErrorType | undefined;
  readonly errorPages: ErrorPages | undefined;
  readonly bodyBytesMax: number | undefined;
}

export class RouteEntry implements RankedEntry {
  readonly priority: number;
  readonly weight: number;
  readonly groupName: string;
  readonly position: number;
  readonly route: Route;
  readonly group: Group | undefined;
  readonly path: EntryPath;
  readonly bindings: readonly string[] | undefined;
  readonly hosts: readonly HostPattern[];
  readonly matchers: readonly Matcher[];
  readonly chain: readonly ChainLink[];
  readonly links: readonly Link[];
  readonly refusing: readonly Refusing[] | undefined;
  readonly closed: ProxyErrorType | undefined;
  readonly errorPages: ErrorPages | undefined;
  readonly bodyBytesMax: number | undefined;
  #action: Action | MakesAction | undefined;

  /** `action`: itself, or what makes it when it is first asked for. */
  constructor(parts: EntryParts, action: Action | MakesAction | undefined) {
    this.priority = parts.priority;
    this.weight = parts.weight;
    this.groupName = parts.groupName;
    this.position = parts.position;
    this.route = parts.route;
    this.group = parts.group;
    this.path = parts.path;
    this.bindings = parts.bindings;
    this.hosts = parts.hosts;
    this.matchers = parts.matchers;
    this.chain = parts.chain;
    this.links = parts.links;
    this.refusing = parts.refusing;
    this.closed = parts.closed;
    this.errorPages = parts.errorPages;
    this.bodyBytesMax = parts.bodyBytesMax;
    this.#action = action;
  }

  get action(): Action | undefined {
    const action = this.#action;
    if (action?.kind !== 'to be made') return action;
    const made = action.actionOf(this);
    this.#action = made;
    return made;
  }
}

/** One for all entries that it is the same for. */
export interface MakesAction {
  readonly kind: 'to be made';
  actionOf(entry: Pick<RankedEntry, 'route' | 'group' | 'path'>): Action;
}
