// Checks that depend on the node that takes a request: its own ports, and its allowed paths of access logs and stored bodies.
import type { EditableKind } from '../model/kinds.ts';
import { type Problem, pointerOf } from '../model/problem.ts';
import type { Configuration } from '../model/proxy-config.ts';
import { findReferences, holdsSecret } from '../model/secret-reference.ts';
import type { Spec } from '../state/command.ts';

export interface NodeChecks {
  /** Names listeners that do not open on this node; pointers name entities by id. */
  readonly checkListeners: (listeners: Configuration['listeners']) => readonly Problem[];
  /** Resolves with the reason why an access log may not have that path: the end of a sentence. */
  readonly refusalOfLog: (path: string) => Promise<string | undefined>;
  /** Resolves with the reason why a stored body may not come from that file. */
  readonly refusalOfBody: (path: string) => Promise<string | undefined>;
}

export const noChecks: NodeChecks = {
  checkListeners: () => [],
  refusalOfLog: async () => undefined,
  refusalOfBody: async () => undefined,
};

/** Returns problems of a body with this node. A path from a secret is checked at the capture. */
export async function nodeProblems(node: NodeChecks, kind: EditableKind, spec: Spec): Promise<Problem[]> {
  if (kind === 'routes' || kind === 'listeners') return await bodyProblems(node, spec);
  const path = kind === 'middlewares' ? logPathOf(spec) : undefined;
  if (path === undefined || holdsSecret(path)) return [];
  const why = await node.refusalOfLog(path);
  return why === undefined ? [] : [{ pointer: pointerOf('accessLog', 'path'), message: why }];
}

/** Returns the problems of files of stored bodies, found or not: a file is read at the capture. */
async function bodyProblems(node: NodeChecks, spec: Spec): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { source, argument, pointer } of findReferences(spec)) {
    const why = source === 'body' ? await node.refusalOfBody(argument) : undefined;
    if (why !== undefined) problems.push({ pointer, message: why });
  }
  return problems;
}

/** Returns the problems of all access logs of a configuration; pointers name entities by id. */
export async function logProblems(node: NodeChecks, middlewares: Configuration['middlewares']): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { id, type, accessLog } of middlewares) {
    const why = type === 'accessLog' && accessLog ? await node.refusalOfLog(accessLog.path) : undefined;
    if (why !== undefined) problems.push({ pointer: pointerOf('middlewares', id, 'accessLog', 'path'), message: why });
  }
  return problems;
}

/** Path of the access log; a block `accessLog` beside another type is ignored. */
function logPathOf({ type, accessLog }: Spec): string | undefined {
  if (type !== 'accessLog' || typeof accessLog !== 'object' || accessLog === null) return undefined;
  const path: unknown = Reflect.get(accessLog, 'path');
  return typeof path === 'string' ? path : undefined;
}
