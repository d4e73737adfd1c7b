// The middlewares of an entry: those of the group, then those of the route, each once, outermost first, with the
// override that counts (contract.md §6.7). What cannot be built closes the entry; it is never left out of the chain.
import { type CelProgram, compileCel } from '../../expression/cel/compiled-program.ts';
import type { RequestView } from '../../expression/cel/value-view.ts';
import type { Group } from '../../model/group.ts';
import type { Middleware } from '../../model/middleware.ts';
import type { MiddlewareOverride } from '../../model/middleware-override.ts';
import type { Route } from '../../model/route.ts';
import type { CompileProblem } from '../compile-problem.ts';
import type { Link } from '../exchange/entry.ts';
import type { ChainLink } from '../match/route-entry.ts';
import { buildOf } from '../middleware/registry.ts';
import type { Instantiate, MiddlewareServices } from '../middleware/services.ts';

export type LinkDecision =
  | { readonly run: true; readonly why: 'always' | 'onlyWhen' }
  | { readonly run: false; readonly why: 'disabled' | 'skipWhen' | 'onlyWhen'; readonly expression?: string };

export interface Chain {
  readonly links: readonly ChainLink[];
  /** Links that take part in exchanges; empty when the chain is not going to run. */
  readonly running: readonly Link[];
  readonly problems: readonly CompileProblem[];
}

/** Chain of most routes. */
const noChain: Chain = { links: [], running: [], problems: [] };

export function compileChain(
  group: Group | undefined,
  route: Route,
  middlewares: ReadonlyMap<string, Middleware>,
  services: MiddlewareServices | undefined,
): Chain {
  const problems: CompileProblem[] = [];
  if (!group?.middlewareIds?.length && !route.middlewareIds?.length) return noChain;
  const listed = { group: group?.middlewareIds ?? [], route: route.middlewareIds ?? [] };
  const ids = new Set([...listed.group, ...listed.route]);
  const links = Array.from(ids, (id): ChainLink => {
    const middleware = middlewares.get(id);
    const of = listed.group.includes(id) ? 'group' : 'route';
    const refuse = (message: string): void => {
      const path = ['middlewareIds', listed[of].indexOf(id)];
      problems.push({ of, path, message, closes: 'middleware_unavailable' });
    };
    if (!middleware) refuse(`names no middleware: ${id}`);
    const link = linkOf(id, middleware, group, route, problems);
    if (middleware && !link.disabled && buildOf(middleware.type) === undefined)
      refuse(`names a middleware of a type that is not known: ${id}`);
    return link;
  });
  const running =
    services === undefined || problems.length > 0 ? [] : links.flatMap((link) => runningLink(link, services));
  return { links, running, problems };
}

/** Decides whether a link takes part, when it is reached: the decision sees what earlier middlewares changed. */
export function decideLink({ disabled, skipWhen, onlyWhen }: ChainLink, view: RequestView): LinkDecision {
  if (disabled) return { run: false, why: 'disabled' };
  const skipping = skipWhen.find((program) => program.decide(view) === true);
  if (skipping) return { run: false, why: 'skipWhen', expression: skipping.source };
  if (onlyWhen.length === 0) return { run: true, why: 'always' };
  return onlyWhen.some((program) => program.decide(view) !== false)
    ? { run: true, why: 'onlyWhen' }
    : { run: false, why: 'onlyWhen' };
}

function linkOf(
  id: string,
  middleware: Middleware | undefined,
  group: Group | undefined,
  route: Route,
  problems: CompileProblem[],
): ChainLink {
  const ofRoute = own(route.middlewareOverrides, id);
  const override = ofRoute ?? own(group?.middlewareOverrides, id);
  const overriddenBy = ofRoute ? 'route' : override ? 'group' : undefined;
  const disabled = override?.disabled === true;
  const programs = (field: 'skipWhen' | 'onlyWhen') =>
    disabled
      ? []
      : conditions(override?.[field] ?? [], overriddenBy ?? 'route', ['middlewareOverrides', id, field], problems);
  return {
    id,
    middleware,
    overriddenBy,
    override,
    disabled,
    skipWhen: programs('skipWhen'),
    onlyWhen: programs('onlyWhen'),
    instantiate: disabled ? undefined : built(middleware, override, problems),
  };
}

function built(
  middleware: Middleware | undefined,
  override: MiddlewareOverride | undefined,
  problems: CompileProblem[],
): Instantiate | undefined {
  const build = middleware && buildOf(middleware.type);
  if (middleware === undefined || build === undefined) return undefined;
  try {
    return build(middleware, override);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const path = [middleware.id, middleware.type];
    problems.push({ of: 'middleware', path, message, closes: 'middleware_unavailable' });
    return undefined;
  }
}

function runningLink({ middleware, instantiate, skipWhen, onlyWhen }: ChainLink, services: MiddlewareServices): Link[] {
  if (instantiate === undefined || middleware === undefined) return [];
  const phases = instantiate(services);
  const needsBody = phases.needsBody === true || [...skipWhen, ...onlyWhen].some((program) => program.needsBody);
  const { id, name, type } = middleware;
  return [{ id, name, type, phases, skipWhen, onlyWhen, needsBody }];
}

function conditions(
  sources: readonly string[],
  of: 'group' | 'route',
  path: readonly string[],
  problems: CompileProblem[],
): CelProgram<RequestView>[] {
  return sources.flatMap((source, i) => {
    try {
      return [compileCel(source, 'request', 'bool')];
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      problems.push({ of, path: [...path, i], message, closes: 'middleware_unavailable' });
      return [];
    }
  });
}

/** Overrides are keyed by what users wrote: an inherited name is no override. */
const own = <T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  map && Object.hasOwn(map, key) ? map[key] : undefined;
