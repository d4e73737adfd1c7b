// Drills of docs/operations.md: what logs, pages and metrics say in each, as rows of its tables, so that a test holds the page
// against real processes. Numbers and names of nodes in a row stand for any.
import { readFileSync } from 'node:fs';

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

export interface DrillRow {
  /** `log`, `/readyz`, `/cluster`, `/fleet`, `/metrics`, `a write`, `alert`. */
  readonly source: string;
  /** Process that says it: `leader`, `others`, `node`, `proxy`; empty for an alert. */
  readonly of: string;
  readonly text: string;
  readonly pattern: RegExp;
}

/** Returns the rows below `### <title>`: `| 4 s | log of the node | \`text\` |`. */
export function rowsOfDrill(title: string): readonly DrillRow[] {
  const [, section] = page.split(`\n### ${title}\n`);
  if (section === undefined) throw new Error(`docs/operations.md has no drill ${title}`);
  const [own = ''] = section.split(/\n##/);
  const rows = [...own.matchAll(/^\| [^|]+ \| ([^|]+?)(?: of the (\w+))? \| `([^`]+)`/gm)];
  return rows.map(([, source = '', of = '', text = '']) => ({ source, of, text, pattern: patternOf(text) }));
}

/** Titles of all drills of the page. */
export const drillTitles = (): readonly string[] => {
  const [, section = ''] = page.split('\n## Drills\n');
  const [own = ''] = section.split(/\n## /);
  return [...own.matchAll(/^### (.+)$/gm)].map(([, title = '']) => title);
};

const patternOf = (text: string): RegExp =>
  new RegExp(
    text
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/\b[abc]\b/g, '[abc]')
      .replace(/\d+(?:\\\.\d+)?/g, '\\d+(?:\\.\\d+)?')
      .replaceAll('…', '.*'),
    'm',
  );
