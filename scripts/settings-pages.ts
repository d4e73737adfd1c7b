// Tables of settings (docs/settings.md, docs/kubernetes.md), made of the keys that the reader of the files is made of.
import { controllerKeys } from '../src/controller/controller-settings.ts';
import type { Keys } from '../src/settings/key.ts';
import { settingsKeys } from '../src/settings/settings.ts';

const begin = '<!-- Keys: written by npm run settings -->\n';
const end = '<!-- End of the keys -->';

/** Pages below docs/ with the tables that stand in them. */
export const settingsPages: Readonly<Record<string, () => string>> = {
  'settings.md': () =>
    Object.entries(settingsKeys)
      .map(([name, keys]) => (name === '' ? table(keys, '') : `## \`${name}\`\n\n${table(keys, `${name}.`)}`))
      .join('\n'),
  'kubernetes.md': () => table(controllerKeys, ''),
};

/** Returns the page with the tables in the place of those that it has. */
export function withTables(page: string, tables: string): string {
  const [before, rest] = page.split(begin);
  const [, after] = (rest ?? '').split(end);
  if (before === undefined || after === undefined) throw new Error('the page has no place for the keys');
  return `${before}${begin}\n${tables}\n${end}${after}`;
}

const table = (keys: Keys, path: string): string =>
  `| Key | Type | Default | Meaning |\n|---|---|---|---|\n${rowsOf(keys, path).join('\n')}\n`;

const rowsOf = (keys: Keys, path: string): string[] =>
  Object.entries(keys).flatMap(([name, { type, usual = '', meaning, below }]) => {
    const at = `${path}${name}${below?.isList ? '[]' : ''}`;
    const own = type === undefined ? [] : [`| \`${at}\` | ${[type, usual, meaning].map(cell).join(' | ')} |`];
    return [...own, ...(below === undefined ? [] : rowsOf(below.keys, `${at}.`))];
  });

/** Bars would end a cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|');
