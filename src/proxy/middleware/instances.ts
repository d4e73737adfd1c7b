// Instances of middlewares: one per middleware and worker, for any number of routes. State such as verified tokens is
// shared by all of them (contract.md §8.0).
import type { Middleware } from '../../model/middleware.ts';
import type { BuildMiddleware, Instantiate, MiddlewareServices } from './services.ts';

/** For types that no override changes. */
export function onePerMiddleware(build: (middleware: Middleware) => Instantiate): BuildMiddleware {
  const known = new WeakMap<Middleware, Instantiate>();
  return (middleware) => {
    const made = known.get(middleware) ?? instantiatedOnce(build(middleware));
    known.set(middleware, made);
    return made;
  };
}

const instantiatedOnce = (instantiate: Instantiate): Instantiate =>
  Object.assign(onePerWorker(instantiate), { dryRun: instantiate.dryRun });

/** Makes a part that all users of a middleware share in a worker, although overrides make them different. */
export function sharedInWorker<Shared>(
  make: (middleware: Middleware, services: MiddlewareServices) => Shared,
): (middleware: Middleware, services: MiddlewareServices) => Shared {
  const known = new WeakMap<Middleware, (services: MiddlewareServices) => Shared>();
  return (middleware, services) => {
    const made = known.get(middleware) ?? onePerWorker((own) => make(middleware, own));
    known.set(middleware, made);
    return made(services);
  };
}

/** Makes one per worker, which its services stand for. */
export function onePerWorker<Services extends object, Made>(
  make: (services: Services) => Made,
): (services: Services) => Made {
  const known = new WeakMap<Services, { readonly made: Made }>();
  return (services) => {
    const kept = known.get(services) ?? { made: make(services) };
    known.set(services, kept);
    return kept.made;
  };
}
