// Reading the library's syntax tree: which calls are macros, what a select names, what a node consists of.
import type { ASTNode } from '@marcbachmann/cel-js';

/** A macro with its variable; `body` holds one expression, or filter and transform of a three-argument map. */
export interface Comprehension {
  readonly macro: 'all' | 'exists' | 'exists_one' | 'map' | 'filter' | 'bind';
  readonly variable: string;
  readonly over: ASTNode;
  readonly body: readonly [ASTNode, ...ASTNode[]];
}

const loops = ['all', 'exists', 'exists_one', 'map', 'filter'] as const;

/** Reads a method call as a macro, or undefined when it is an ordinary call. */
export function comprehensionOf(node: ASTNode): Comprehension | undefined {
  if (node.op !== 'rcall') return undefined;
  const [name, receiver, [variable, first, ...rest]] = node.args;
  if (variable?.op !== 'id' || !first) return undefined;
  if (name === 'bind' && receiver.op === 'id' && receiver.args === 'cel' && rest[0]) {
    return { macro: 'bind', variable: variable.args, over: first, body: [rest[0]] };
  }
  const macro = loops.find((loop) => loop === name);
  return macro ? { macro, variable: variable.args, over: receiver, body: [first, ...rest] } : undefined;
}

/** The name in `x.name` and `x["name"]`. */
export function fieldName(node: ASTNode): string | undefined {
  if (node.op === '.') return node.args[1];
  return node.op === '[]' ? textOf(node.args[1]) : undefined;
}

/** The text of a string literal. */
export const textOf = (node: ASTNode | undefined): string | undefined =>
  node?.op === 'value' && typeof node.args === 'string' ? node.args : undefined;

/** Counts the nodes of a tree. */
export const sizeOf = (node: ASTNode): number => operandsOf(node).reduce((sum, operand) => sum + sizeOf(operand), 1);

/** The operands of a node as they were written, macros unexpanded. */
export function operandsOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case 'map':
      return node.args.flat();
    case '!_':
    case '-_':
      return [node.args];
    default:
      return node.args;
  }
}
