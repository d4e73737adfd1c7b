// Prose of sources and pages: comments, texts and headings, each with its line. Code spans are no prose.
import ts from 'typescript';

export interface Prose {
  /** 1-based. */
  readonly line: number;
  readonly text: string;
  /** True where the first word has to be the noun of a thing: a doc comment, the header of a file. */
  readonly opens: boolean;
}

/** Returns comments, messages and names of tests of a TypeScript or JavaScript file, in their order. */
export function proseIn(file: string, source: string): Prose[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const found = new Map<number, Prose>();
  const lineAt = (position: number) => tree.getLineAndCharacterOfPosition(position).line + 1;
  const isTest = file.startsWith('test/');
  const comment = ({ pos, end, kind }: ts.CommentRange) => {
    if (found.has(pos)) return;
    const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia;
    const raw = source.slice(pos, end);
    const text = isLine
      ? raw.replace(/^\/\/+\s?/, '')
      : raw.replace(/^\/\*+|\s*\*+\/$/g, '').replace(/^\s*\*+\s?/gm, '');
    const opens = raw.startsWith('/**') || isHeader(source, pos);
    found.set(pos, { line: lineAt(pos), text: withoutCode(text), opens });
  };
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []) comment(range);
    for (const range of ts.getTrailingCommentRanges(source, node.getEnd()) ?? []) comment(range);
    if (isText(node) && (!isTest || isTitle(node))) {
      found.set(node.getStart(), { line: lineAt(node.getStart()), text: withoutCode(node.text), opens: false });
    }
    node.getChildren(tree).forEach(visit);
  };
  visit(tree);
  return [...found].sort(([a], [b]) => a - b).map(([, prose]) => prose);
}

/** Returns the lines of a Markdown page without code blocks and code spans. */
export function sentencesOf(page: string): Omit<Prose, 'opens'>[] {
  const lines = page
    .replace(/^(```|~~~)[^\n]*\n[\s\S]*?^\1/gm, (block) => block.replace(/[^\n]/g, ''))
    .replace(/`[^`]*`/g, (span) => span.replace(/[^\n]/g, ' '))
    .split('\n');
  return lines.map((text, index) => ({ line: index + 1, text: text.startsWith('    ') ? '' : text }));
}

const withoutCode = (text: string) => text.replace(/`[^`]*`/g, ' `` ').trim();

/** Returns whether nothing but a first line for the shell stands before `position`. */
const isHeader = (source: string, position: number) =>
  source
    .slice(0, position)
    .replace(/^#![^\n]*/, '')
    .trim() === '';

function isText(node: ts.Node): node is ts.StringLiteral | ts.TemplateHead {
  return (
    ts.isStringLiteral(node) ||
    ts.isNoSubstitutionTemplateLiteral(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddle(node) ||
    ts.isTemplateTail(node)
  );
}

/** Returns whether a text is the name of a test. */
function isTitle(node: ts.Node): boolean {
  const call = ts.isTemplateExpression(node.parent) ? node.parent.parent : node.parent;
  return ts.isCallExpression(call) && /^(describe|it|describe\.\w+|it\.\w+)$/.test(call.expression.getText());
}
