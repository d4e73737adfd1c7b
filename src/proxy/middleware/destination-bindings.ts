// Bindings of a middleware to the destination that it names by id: the one of its own configuration. While two
// configurations are served at a time, one middleware of both may mean two destinations by one id.
import type { Destination } from '../../model/destination.ts';
import { contentOf } from '../../model/entity-content.ts';
import type { Middleware } from '../../model/middleware.ts';
import type { Configuration } from '../../model/proxy-config.ts';

export class MiddlewareBindings {
  readonly #destinations = new WeakMap<Middleware, Destination | undefined>();
  /** Copies of a middleware, for other destinations. */
  readonly #twins = new WeakMap<Middleware, Middleware[]>();

  /**
   * The configuration with one object for each middleware and what it means: a middleware that is as it was, while its
   * destination is not, becomes another object. What is remembered by object stays apart then.
   */
  bind(configuration: Configuration): Configuration {
    if (configuration.middlewares.every((middleware) => named(middleware) === undefined)) return configuration;
    const destinations = new Map(configuration.destinations.map((destination) => [destination.id, destination]));
    const middlewares = configuration.middlewares.map((middleware) => {
      const id = named(middleware);
      return id === undefined ? middleware : this.#bound(middleware, destinations.get(id));
    });
    return { ...configuration, middlewares };
  }

  /** Undefined when there is none of that id. */
  destinationOf(middleware: Middleware): Destination | undefined {
    return this.#destinations.get(middleware);
  }

  #bound(middleware: Middleware, destination: Destination | undefined): Middleware {
    const known = [middleware, ...(this.#twins.get(middleware) ?? [])];
    const fits = (each: Middleware): boolean =>
      !this.#destinations.has(each) || isSame(this.#destinations.get(each), destination);
    const own = known.find(fits) ?? { ...middleware };
    if (!known.includes(own)) this.#twins.set(middleware, [...known.slice(1), own]);
    this.#destinations.set(own, destination);
    return own;
  }
}

/** Destinations that middlewares ask, beside those that requests go to. */
export function servicesOf({ middlewares, destinations }: Configuration): readonly Destination[] {
  const ids = new Set(middlewares.map(({ extAuthz, extProc }) => (extAuthz ?? extProc)?.destinationId));
  return destinations.filter(({ id }) => ids.has(id));
}

/** Id that the middleware names, if it needs what is behind it. */
const named = ({ type, jwt, extAuthz, extProc }: Middleware): string | undefined => {
  if (type === 'jwt') return jwt?.jwksPath === undefined ? undefined : (jwt.jwksDestinationId ?? '');
  return type === 'extAuthz' ? extAuthz?.destinationId : type === 'extProc' ? extProc?.destinationId : undefined;
};

const isSame = (one: Destination | undefined, other: Destination | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && contentOf(one) === contentOf(other));
