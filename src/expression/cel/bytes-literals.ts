// Bytes literals. In CEL their characters beyond ASCII stand for UTF-8 bytes; the library keeps the low eight bits of
// each UTF-16 unit. Such a literal is read again, with its bytes written as escapes.
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { operandsOf } from './syntax.ts';

/** Puts the right bytes into every literal of the tree that `library` has parsed from `source`. */
export function mendBytes(root: ASTNode, source: string, library: Environment): void {
  const visit = (node: ASTNode): void => {
    if (node.op === 'value' && node.args instanceof Uint8Array) {
      const text = source.slice(node.range.start, node.range.end);
      const escaped = text.replace(beyondAscii, asEscapes);
      if (escaped !== text) Object.assign(node, { args: library.parse(escaped).ast.args });
    }
    for (const operand of operandsOf(node)) visit(operand);
  };
  if (source.search(beyondAscii) >= 0) visit(root);
}

const beyondAscii = /[^\0-\u007f]+/g;

const asEscapes = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => `\\x${byte.toString(16)}`).join('');
