// A middleware is built once, whatever number of routes use it, and lives once in a worker: what it remembers, such as
// tokens it has verified, it remembers for all of them (contract.md §8.0).
import type { Middleware } from '../../model/middleware.ts';
import type { MiddlewarePhases } from '../exchange/phase.ts';
import type { BuildMiddleware, Instantiate, MiddlewareServices } from './services.ts';

/** For types that no override changes. */
export function onePerMiddleware(build: (middleware: Middleware) => Instantiate): BuildMiddleware {
  const known = new WeakMap<Middleware, Instantiate>();
  return (middleware) => {
    const made = known.get(middleware) ?? onePerWorker(build(middleware));
    known.set(middleware, made);
    return made;
  };
}

function onePerWorker(instantiate: Instantiate): Instantiate {
  const known = new WeakMap<MiddlewareServices, MiddlewarePhases>();
  const kept = (services: MiddlewareServices): MiddlewarePhases => {
    const made = known.get(services) ?? instantiate(services);
    known.set(services, made);
    return made;
  };
  return Object.assign(kept, { foretell: instantiate.foretell });
}
