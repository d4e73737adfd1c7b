// What a configuration uses that is accepted but not built yet (architecture.md §6.20): each place is named, so that
// nobody relies on it. Pointers name entities by id.

import { type Problem, pointerOf } from '../../model/problem.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import { buildOf } from '../middleware/registry.ts';

export function findUnsupported(configuration: Configuration): Problem[] {
  const warnings: Problem[] = [];
  checkMiddlewares(configuration, warnings);
  return warnings;
}

const notBuilt = (what: string): string => `${what} is not available in this version`;

function checkMiddlewares({ routes, groups, middlewares }: Configuration, warnings: Problem[]): void {
  const closing = new Set(middlewares.filter(({ type }) => buildOf(type) === undefined).map(({ id }) => id));
  const check = (kind: 'routes' | 'groups', entity: string, ids: readonly string[] | undefined): void =>
    ids?.forEach((id, at) => {
      if (!closing.has(id)) return;
      const pointer = pointerOf(kind, entity, 'middlewareIds', at);
      warnings.push({ pointer, message: `${notBuilt('the middleware')}: requests are answered 500` });
    });
  for (const { id, middlewareIds } of routes) check('routes', id, middlewareIds);
  for (const { id, middlewareIds } of groups) check('groups', id, middlewareIds);
}
