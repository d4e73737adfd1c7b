// One entry of the routing table: a group and route pair, or a route alone, with everything settled that can be settled
// before a request is there.
import type { ProxyErrorType } from '../../errors.ts';
import type { CelProgram } from '../../expression/cel/compiled-program.ts';
import type { RequestView } from '../../expression/cel/value-view.ts';
import type { Group } from '../../model/group.ts';
import type { Middleware } from '../../model/middleware.ts';
import type { MiddlewareOverride } from '../../model/middleware-override.ts';
import type { Route } from '../../model/route.ts';
import type { DirectResponseAction } from '../action/fixed-response.ts';
import type { RedirectAction } from '../action/redirect.ts';
import type { ExchangeEntry, Link } from '../exchange/entry.ts';
import type { ForwardAction } from '../forward/forwarding-action.ts';
import type { Instantiate } from '../middleware/services.ts';
import type { HostPattern } from '../target/host.ts';
import type { EntryPath } from '../target/path.ts';
import type { Matcher } from './request-matcher.ts';

export interface Ranked {
  /** Key 0, larger first. */
  readonly priority: number;
  /** Keys 1 to 9, smaller first. */
  readonly weight: number;
  readonly groupName: string;
  /** Position in the group's routeIds. */
  readonly position: number;
  readonly route: Route;
}

export interface ChainLink {
  readonly id: string;
  /** Undefined when no middleware has that id: then the entry is closed. */
  readonly middleware: Middleware | undefined;
  /** Origin of the entry in `middlewareOverrides` that counts. */
  readonly overriddenBy: 'group' | 'route' | undefined;
  readonly override: MiddlewareOverride | undefined;
  readonly disabled: boolean;
  /** The middleware is skipped when any is true. */
  readonly skipWhen: readonly CelProgram<RequestView>[];
  /** Conditions of which one has to be true for the middleware to run, if there are any. */
  readonly onlyWhen: readonly CelProgram<RequestView>[];
  /** Undefined when it is disabled or cannot be built. */
  readonly instantiate: Instantiate | undefined;
}

export type Action = ForwardAction | RedirectAction | DirectResponseAction;

export interface RankedEntry extends Ranked, ExchangeEntry {
  readonly route: Route;
  readonly group: Group | undefined;
  readonly path: EntryPath;
  /** Bindings of `listenerIds`; undefined: all listeners. An empty list: none, the entry wins no request. */
  readonly bindings: readonly string[] | undefined;
  /** Empty: any host. */
  readonly hosts: readonly HostPattern[];
  /** Matchers beside host and path, in the order in which they are tried. */
  readonly matchers: readonly Matcher[];
  /** Undefined only for a closed entry. */
  readonly action: Action | undefined;
  /** Outermost first, disabled ones too. */
  readonly chain: readonly ChainLink[];
  readonly links: readonly Link[];
  /** The entry wins its requests and answers this error: it could not be built whole (architecture.md §6.19). */
  readonly closed: ProxyErrorType | undefined;
}
