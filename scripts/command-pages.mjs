// `npm run commands`: writes the commands into docs/cli.md, behind the text that stands before them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { everyCommand } from '../src/command-line/commands.ts';
import { referencePage } from '../src/command-line/documents/reference-page.ts';

const page = join(import.meta.dirname, '../docs/cli.md');
writeFileSync(page, referencePage(readFileSync(page, 'utf8'), await everyCommand()));
