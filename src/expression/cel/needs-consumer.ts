// Expressions that need the consumer of a request.
import type { ASTNode } from '@marcbachmann/cel-js';
import { environments } from './environment.ts';
import { children } from './inspect.ts';

/**
 * Returns whether an expression over `request` reads `consumer` and never asks whether there is one, `has(consumer.name)`;
 * false for a text that is no expression.
 */
export function needsConsumer(source: string): boolean {
  if (!source.includes('consumer')) return false;
  try {
    const { ast } = environments.request.parse(source);
    return readsConsumer(ast) && !asksForConsumer(ast);
  } catch {
    return false;
  }
}

const top = { loops: 0, hidden: new Set<string>() };

const readsConsumer = (node: ASTNode, place: Parameters<typeof children>[1] = top): boolean =>
  node.op === 'id'
    ? node.args === 'consumer' && !place.hidden.has('consumer')
    : children(node, place).some(([child, inner]) => readsConsumer(child, inner));

const asksForConsumer = (node: ASTNode): boolean =>
  node.op === 'call' && node.args[0] === 'has'
    ? readsConsumer(node)
    : children(node, top).some(([child]) => asksForConsumer(child));
