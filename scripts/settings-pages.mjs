// `npm run settings`: writes the tables of settings into the docs, after a key was added or changed. A test holds them against it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingsPages, withTables } from './settings-pages.ts';

for (const [name, tables] of Object.entries(settingsPages)) {
  const page = join(import.meta.dirname, '../docs', name);
  writeFileSync(page, withTables(readFileSync(page, 'utf8'), tables()));
}
