// Folding of conditions: those that are true, or false, for every request.
import type { ASTNode } from '@marcbachmann/cel-js';
import { compileNode } from './closures.ts';
import { environments } from './environment.ts';
import { children } from './inspect.ts';
import { requestRoots } from './roots.ts';

/**
 * Returns what a condition over `request` is for every request; undefined: it depends on the request, or cannot be decided.
 * A part without `request` is evaluated once. In `a && b` one false part decides, in `a || b` a true one.
 */
export function foldCel(source: string): boolean | undefined {
  try {
    return folded(environments.request.parse(source).ast);
  } catch {
    return undefined;
  }
}

function folded(node: ASTNode): boolean | undefined {
  if (node.op === '&&' || node.op === '||') {
    const decides = node.op === '||';
    const parts = node.args.map(folded);
    if (parts.includes(decides)) return decides;
    return parts.every((part) => part === !decides) ? !decides : undefined;
  }
  if (node.op === '!_') {
    const inner = folded(node.args);
    return inner === undefined ? undefined : !inner;
  }
  if (asksRequest(node)) return undefined;
  const run = compileNode(node, { roots: requestRoots, variables: new Map(), depth: 0 });
  // No root is read, so that any input does.
  const value = run({ input: undefined as never, slots: [], steps: stepsMax });
  return typeof value === 'boolean' ? value : undefined;
}

const stepsMax = 100_000;

/** Returns whether `request` stands anywhere in it, be it as the variable of a loop. */
function asksRequest(node: ASTNode): boolean {
  if (node.op === 'id') return node.args === 'request';
  return [...children(node, { loops: 0, hidden: new Set() })].some(([child]) => asksRequest(child));
}
